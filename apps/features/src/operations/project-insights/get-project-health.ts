import { implement, JsonText } from '@bunting/bus';
import { GetProjectHealth } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { loadExternalProjectData } from './external-project-data.ts';

export const getProjectHealthEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetProjectHealth, async (request) => {
    const external = await loadExternalProjectData(bus, request);
    return new JsonText(await projectOverviews.withHealth(request.params.projectId, request.caller.id, external));
  });
