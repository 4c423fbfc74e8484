import { callIfSupported, implement, JsonText, onBehalfOf } from '@bunting/bus';
import { CountMembers, ListProjects } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import { loadActivityIfAvailable } from '../project-insights/project-activity.ts';
import type { FeaturesContext } from '../context.ts';

export const listProjectsEndpoint = ({ projects, bus }: FeaturesContext) =>
  implement(ListProjects, async (request) => {
    const [held, recent = []] = await Promise.all([
      callIfSupported(bus, CountMembers, { body: {} }, onBehalfOf(request)),
      loadActivityIfAvailable(bus, request, {}),
    ]);
    return new JsonText(
      await projects.all(request.caller.id, hiddenProjectsOf(request.caller), held?.projects ?? [], recent),
    );
  });
