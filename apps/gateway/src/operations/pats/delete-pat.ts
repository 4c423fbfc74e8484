import { implement } from '@bunting/bus';
import { DeletePat, notFound } from '@bunting/contracts';
import { toldPat } from './add-pat.ts';
import { requireSomebody } from './own-account.ts';
import type { GatewayContext } from '../context.ts';

export const noSuchPat = 'No PAT found with that id.';

export const deletePatEndpoint = ({ work }: GatewayContext) =>
  implement(DeletePat, async (request) => {
    requireSomebody(request.caller);
    return work(request, async ({ tokens, requireAdministratorLeft, tell }) => {
      const pat = await tokens.revokePat(request.caller.id, request.params.id);
      if (pat === undefined) throw notFound(noSuchPat);
      await requireAdministratorLeft();
      tell({ type: 'pat-deleted', preData: toldPat(pat) });
      return null;
    });
  });
