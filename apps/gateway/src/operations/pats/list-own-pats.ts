import { implement } from '@bunting/bus';
import { ListOwnPats } from '@bunting/contracts';
import { requireAccount } from '../../domain/token-scope.ts';
import type { GatewayContext } from '../context.ts';

export const listOwnPatsEndpoint = ({ transaction }: GatewayContext) =>
  implement(ListOwnPats, async (request) => {
    requireAccount(request.caller);
    return transaction(request, async ({ tokens }) => ({ pats: await tokens.listPats(request.caller.id) }));
  });
