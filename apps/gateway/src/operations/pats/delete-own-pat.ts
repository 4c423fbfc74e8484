import { implement } from '@bunting/bus';
import { DeleteOwnPat } from '@bunting/contracts';
import { patDeleted } from '../../access/pats/pat.ts';
import { requireAccount } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';

export const deleteOwnPatEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeleteOwnPat, async (request) => {
    requireAccount(request.caller);
    return transaction(request, async ({ tokens }) => {
      await tokens.revokePat(request.caller.id, request.params.id, (pat) => [patDeleted(pat)]);
      return null;
    });
  });
