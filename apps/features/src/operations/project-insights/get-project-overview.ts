import { implement, JsonText } from '@bunting/bus';
import { GetProjectOverview } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { loadExternalProjectData } from './external-project-data.ts';

export const getProjectOverviewEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetProjectOverview, async (request) => {
    const external = await loadExternalProjectData(bus, request);
    return new JsonText(await projectOverviews.overview(request.params.projectId, request.caller.id, external));
  });
