import { implement } from '@bunting/bus';
import { CreateProjectApiToken, may, noAccess } from '@bunting/contracts';
import { newToken } from '../../domain/tokens/api-token.ts';
import { badRequest } from '../../domain/refusals.ts';
import { addToken } from './add-token.ts';
import type { GatewayContext } from '../context.ts';

export const createProjectApiTokenEndpoint = ({ transaction, projectDirectory }: GatewayContext) =>
  implement(CreateProjectApiToken, async (request) => {
    const { caller, params, body, now } = request;
    const { projectId } = params;
    const [environments] = await Promise.all([
      projectDirectory.environments(request),
      projectDirectory.requireProject(request, projectId),
    ]);
    const named = [...(body.projects ?? []), ...(body.project === undefined ? [] : [body.project])];
    if (named.some((project) => project !== projectId))
      throw badRequest(`A token of the project ${projectId} can be for this project only`, '/body/projects');
    const targets = { environments, projects: [projectId] };
    if (body.type.toLowerCase() === 'admin')
      throw badRequest('A token of a project cannot be an admin token', '/body/type');
    const token = newToken({ ...body, projects: [projectId] }, caller, targets, now);
    const where = { project: projectId, environment: token.environment };
    if (!may(caller, ['CREATE_PROJECT_API_TOKEN'], where)) {
      throw noAccess(['CREATE_PROJECT_API_TOKEN'], token.environment);
    }
    await projectDirectory.awaitProjection([projectId]);
    return transaction.revealingSecret(request, (tx) => addToken(tx, token, caller.id));
  });
