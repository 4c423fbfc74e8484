import { implement } from '@bunting/bus';
import { ListOwnPats } from '@bunting/contracts';
import { requireAccount } from '../../domain/accounts/accounts.ts';
import type { GatewayContext } from '../../access/context.ts';

export const listOwnPatsEndpoint = ({ reads }: GatewayContext) =>
  implement(ListOwnPats, async ({ caller }) => {
    requireAccount(caller);
    return { pats: await reads.tokens.listPats(caller.id) };
  });
