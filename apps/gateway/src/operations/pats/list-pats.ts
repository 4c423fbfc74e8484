import { implement } from '@bunting/bus';
import { ListPats } from '@bunting/contracts';
import { requireSomebody } from './own-account.ts';
import type { GatewayContext } from '../context.ts';

export const listPatsEndpoint = ({ work }: GatewayContext) =>
  implement(ListPats, async (asked) => {
    requireSomebody(asked.caller);
    return work(asked, async ({ tokens }) => ({ pats: await tokens.pats(asked.caller.id) }));
  });
