import { implement } from '@bunting/bus';
import { CreateOwnPat, refusal } from '@bunting/contracts';
import { addPat } from '../../access/pats/endpoints.ts';
import { requireAccount } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';

export const createOwnPatEndpoint = ({ transaction }: GatewayContext) =>
  implement(CreateOwnPat, async (request) => {
    requireAccount(request.caller);
    return transaction.revealingSecret(request, async (tx) => {
      const user = await tx.users.findForUpdate(request.caller.id);
      // The user was deleted after the request was authenticated.
      if (user === undefined)
        throw refusal('AuthenticationRequired', 'The key in the authorization header is not valid.');
      return addPat(tx, request, user.id, request.body);
    });
  });
