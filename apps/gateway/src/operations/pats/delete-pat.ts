import { implement } from '@bunting/bus';
import { DeletePat, notFound } from '@bunting/contracts';
import { patEventData } from './add-pat.ts';
import { requireAccount } from './own-account.ts';
import type { GatewayContext } from '../context.ts';

export const noSuchPat = 'No PAT found with that id.';

export const deletePatEndpoint = ({ transaction }: GatewayContext) =>
  implement(DeletePat, async (request) => {
    requireAccount(request.caller);
    return transaction(request, async ({ tokens, requireAdministratorLeft, emit }) => {
      const pat = await tokens.revokePat(request.caller.id, request.params.id);
      if (pat === undefined) throw notFound(noSuchPat);
      await requireAdministratorLeft();
      emit({ type: 'pat-deleted', preData: patEventData(pat) });
      return null;
    });
  });
