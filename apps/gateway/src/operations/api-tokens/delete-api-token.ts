import { implement } from '@bunting/bus';
import { DeleteApiToken } from '@bunting/contracts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import { findVisibleTokenForUpdate } from './find-visible-token-for-update.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteApiTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteApiToken, (request) =>
    transaction(request, async (tx) => {
      const { caller, params } = request;
      const token = await findVisibleTokenForUpdate(tx, caller, params.token, 'DELETE');
      if (token === undefined) return null;
      await tx.tokens.revoke(token, [tokenEvent('api-token-deleted', { preData: token })]);
      return null;
    }),
  );
