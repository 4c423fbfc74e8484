import { implement } from '@bunting/bus';
import { CreateApiToken } from '@bunting/contracts';
import { namedProjects, parseNewToken, requireMayActOn, requireWithinLifetime } from '../../access/tokens/token.ts';
import { addToken } from '../../access/tokens/endpoints.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createApiTokenEndpoint = ({ transaction, projectAndEnvironmentDirectory }: GatewayContext) =>
  implement(CreateApiToken, async (request) => {
    const { caller, body } = request;
    const targets = await projectAndEnvironmentDirectory.all(request);
    const token = parseNewToken(body, caller, targets);
    requireMayActOn(caller, 'CREATE', token.kind);
    await projectAndEnvironmentDirectory.awaitProjection(namedProjects(token));
    return transaction.revealingSecret(request, async (tx) => {
      if (token.kind === 'admin') requireWithinLifetime(await tx.tokens.expiryOf(caller.tokenId), token.expiresAt);
      return addToken(tx, token, caller.id);
    });
  });
