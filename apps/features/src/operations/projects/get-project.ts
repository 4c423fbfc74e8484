import { implement, JsonText } from '@bunting/bus';
import { GetProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProject, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.withFeatures(asked.params.projectId, asked.caller.id, known));
  });
