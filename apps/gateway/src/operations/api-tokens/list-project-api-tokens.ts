import { implement } from '@bunting/bus';
import { ListProjectApiTokens, may } from '@bunting/contracts';
import { belongsToProject, permittedKinds, sdkTokenKinds } from '../../access/tokens/token.ts';
import type { StoredToken } from '../../access/tokens/token-store.ts';
import { toListedToken } from './token-response.ts';
import type { GatewayContext } from '../../access/context.ts';
import { maySeeToken } from './token-visibility.ts';

export const listProjectApiTokensEndpoint = ({ reads, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(ListProjectApiTokens, async (request) => {
    const { caller, params } = request;
    await projectAndEnvironmentDirectory.requireProject(request, params.projectId);
    const storedTokens = await reads.tokens.list(sdkTokenKinds, params.projectId);
    const creatableKinds = permittedKinds(caller, 'CREATE');
    const mayCreate = (token: StoredToken): boolean =>
      creatableKinds.includes(token.type) ||
      (belongsToProject(token, params.projectId) &&
        may(caller, ['CREATE_PROJECT_API_TOKEN'], { project: params.projectId, environment: token.environment }));
    return {
      tokens: storedTokens
        .filter((token) => maySeeToken(caller, token))
        .map((token) => toListedToken(token, mayCreate(token))),
    };
  });
