import { implement, JsonText } from '@bunting/bus';
import { GetProjectHealth } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectHealthEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectHealth, async (asked) => {
    const known = await knownElsewhere(bus, asked);
    return new JsonText(await projects.withHealth(asked.params.projectId, asked.caller.id, known));
  });
