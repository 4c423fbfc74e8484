import { implement, JsonText } from '@bunting/bus';
import { GetProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { loadExternalProjectData } from '../project-insights/external-project-data.ts';

export const getProjectEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetProject, async (request) => {
    const external = await loadExternalProjectData(bus, request);
    return new JsonText(await projectOverviews.withFeatures(request.params.projectId, request.caller.id, external));
  });
