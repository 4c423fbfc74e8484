import { implement } from '@bunting/bus';
import { ListPats } from '@bunting/contracts';
import { requireSomebody } from './own-account.ts';
import type { GatewayContext } from '../context.ts';

export const listPatsEndpoint = ({ work }: GatewayContext) =>
  implement(ListPats, async (request) => {
    requireSomebody(request.caller);
    return work(request, async ({ tokens }) => ({ pats: await tokens.pats(request.caller.id) }));
  });
