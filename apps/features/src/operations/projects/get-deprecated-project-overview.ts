import { implement, JsonText } from '@bunting/bus';
import { GetDeprecatedProjectOverview } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { loadExternalProjectData } from '../project-insights/external-project-data.ts';

export const getDeprecatedProjectOverviewEndpoint = ({ projectOverviews, bus }: FeaturesContext) =>
  implement(GetDeprecatedProjectOverview, async (request) => {
    const external = await loadExternalProjectData(bus, request);
    return new JsonText(await projectOverviews.withFeatures(request.params.projectId, request.caller.id, external));
  });
