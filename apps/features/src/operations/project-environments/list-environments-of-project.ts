import { implement, JsonText } from '@bunting/bus';
import { ListEnvironmentsOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { loadTokenCounts } from '../environments/token-counts.ts';

export const listEnvironmentsOfProjectEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(ListEnvironmentsOfProject, async (request) => {
    const { projectId } = request.params;
    return new JsonText(await environments.ofProject(projectId, await loadTokenCounts(bus, request, projectId)));
  });
