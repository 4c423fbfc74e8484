import { implement, JsonText } from '@bunting/bus';
import { ListEnvironmentsOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';
import { tokensOf } from './count-tokens.ts';

export const listEnvironmentsOfProjectEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(ListEnvironmentsOfProject, async (request) => {
    const { projectId } = request.params;
    return new JsonText(await environments.ofProject(projectId, await tokensOf(bus, request, projectId)));
  });
