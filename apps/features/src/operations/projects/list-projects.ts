import { callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import { CountMembers, ListProjects } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import { activityIfKnown } from './project-activity.ts';
import type { FeaturesContext } from '../context.ts';

export const listProjectsEndpoint = ({ projects, bus }: FeaturesContext) =>
  implement(ListProjects, async (request) => {
    const [held, recent = []] = await Promise.all([
      callIfSupported(bus, CountMembers, { body: {} }, onBehalfOf(request)),
      activityIfKnown(bus, request, {}),
    ]);
    return new JsonText(
      await projects.all(request.caller.id, hiddenFrom(request.caller), held?.projects ?? [], recent),
    );
  });
