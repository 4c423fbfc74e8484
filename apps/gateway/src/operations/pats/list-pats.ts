import { implement } from '@bunting/bus';
import { ListPats } from '@bunting/contracts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { requireSomebody } from './own-account.ts';

export const listPatsEndpoint = (work: UnitOfWork) =>
  implement(ListPats, async (asked) => {
    requireSomebody(asked.caller);
    return work(asked, async ({ tokens }) => ({ pats: await tokens.pats(asked.caller.id) }));
  });
