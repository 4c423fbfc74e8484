import { implement } from '@bunting/bus';
import { CreateProjectApiToken } from '@bunting/contracts';
import { parseNewProjectToken } from '../../access/tokens/token.ts';
import { addToken } from '../../access/tokens/endpoints.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createProjectApiTokenEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(CreateProjectApiToken, async (request) => {
    const { caller, params, body } = request;
    const project = params.projectId;
    const [environments] = await Promise.all([
      projectAndEnvironmentDirectory.environments(request),
      projectAndEnvironmentDirectory.requireProject(request, project),
    ]);
    const token = parseNewProjectToken(body, caller, { project, environments });
    await projectAndEnvironmentDirectory.awaitProjection([project]);
    return transaction.revealingSecret(request, (tx) => addToken(tx, token, caller.id));
  });
