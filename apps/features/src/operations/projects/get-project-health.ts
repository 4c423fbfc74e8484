import { implement, JsonText } from '@bunting/bus';
import { GetProjectHealth } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectHealthEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProjectHealth, async (request) => {
    const known = await knownElsewhere(bus, request);
    return new JsonText(await projects.withHealth(request.params.projectId, request.caller.id, known));
  });
