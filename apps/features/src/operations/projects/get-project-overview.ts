import { implement, JsonText } from '@bunting/bus';
import { GetProjectOverview } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectOverviewEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectOverview, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.overview(asked.params.projectId, asked.caller.id, known));
  });
