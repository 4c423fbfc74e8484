import { implement, JsonText } from '@bunting/bus';
import { GetProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { knownElsewhere } from './known-elsewhere.ts';

export const getProjectEndpoint = ({ projectOverviews: projects, bus }: FeaturesContext) =>
  implement(GetProject, async (request) => {
    const known = await knownElsewhere(bus, request);
    return new JsonText(await projects.withFeatures(request.params.projectId, request.caller.id, known));
  });
