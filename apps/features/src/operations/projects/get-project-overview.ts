import { implement, JsonText } from '@bunting/bus';
import { GetProjectOverview } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectOverviewEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectOverview, async (request) => {
    const known = await knownElsewhere(bus, request);
    return new JsonText(await projects.overview(request.params.projectId, request.caller.id, known));
  });
