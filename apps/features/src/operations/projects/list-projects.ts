import { implement, JsonText, onBehalfOf } from '@bunting/bus';
import { CountProjectMembers, ListProjects } from '@bunting/contracts';
import { callIfSupported } from '../../calls.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { loadActivityIfAvailable } from '../project-insights/project-activity.ts';
import type { FeaturesContext } from '../context.ts';

export const listProjectsEndpoint = ({ projects, bus }: FeaturesContext) =>
  implement(ListProjects, async (request) => {
    const [members, lastEvents = []] = await Promise.all([
      callIfSupported(bus, CountProjectMembers, { body: {} }, onBehalfOf(request)),
      loadActivityIfAvailable(bus, request, {}),
    ]);
    const { caller, query } = request;
    const callerScope = { userId: caller.id, hidden: hiddenProjectsOf(caller) };
    return new JsonText(await projects.all(query, callerScope, { members: members?.projects ?? [], lastEvents }));
  });
