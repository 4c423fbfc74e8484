import { implement } from '@bunting/bus';
import { DeleteApiToken } from '@bunting/contracts';
import { permittedKinds } from '../../domain/tokens/api-token.ts';
import { tokenEvent } from '../../domain/tokens/token-event.ts';
import { getVisibleTokenForUpdate } from './get-visible-token-for-update.ts';
import type { GatewayContext } from '../context.ts';

export const deleteApiTokenEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteApiToken, (request) =>
    transaction(request, async (tx) => {
      const { caller, params } = request;
      const token = await getVisibleTokenForUpdate(tx, caller, params.token, permittedKinds(caller, 'DELETE'));
      await tx.tokens.revoke(token, [tokenEvent('api-token-deleted', { preData: token })]);
      return null;
    }),
  );
