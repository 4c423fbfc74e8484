import { implement } from '@bunting/bus';
import { UpdateApiToken } from '@bunting/contracts';
import { requireWithinLifetime } from '../../access/tokens/token.ts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import { findVisibleTokenForUpdate } from './find-visible-token-for-update.ts';
import type { GatewayContext } from '../../access/context.ts';

export const updateApiTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(UpdateApiToken, (request) =>
    transaction(request, async (tx) => {
      const { caller, params, body } = request;
      const token = await findVisibleTokenForUpdate(tx, caller, params.token, 'UPDATE');
      if (token === undefined) return null;
      const expiresAt = new Date(body.expiresAt);
      if (token.type === 'admin') requireWithinLifetime(await tx.tokens.expiryOf(caller.tokenId), expiresAt);
      if (token.expiresAt === expiresAt.toISOString()) return null;
      await tx.tokens.setExpiry(token, expiresAt, (after) => [
        tokenEvent('api-token-updated', { data: after, preData: token }),
      ]);
      return null;
    }),
  );
