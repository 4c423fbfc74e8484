import { implement } from '@bunting/bus';
import { DeleteApiToken } from '@bunting/contracts';
import { kindsFor } from '../../domain/api-token.ts';
import { requireToken } from './require-token.ts';
import { answered, tokenEvent } from './token-event.ts';
import type { GatewayContext } from '../context.ts';

export const deleteApiTokenEndpoint = ({ work }: GatewayContext) =>
  implement(DeleteApiToken, (request) =>
    work(request, async (tx) => {
      const { caller, params } = request;
      const token = await requireToken(tx, caller, params.token, kindsFor(caller, 'DELETE'));
      await tx.tokens.revoke(token.id);
      await tx.requireAdministratorLeft();
      tx.tell(tokenEvent('api-token-deleted', { preData: answered(token) }));
      return null;
    }),
  );
