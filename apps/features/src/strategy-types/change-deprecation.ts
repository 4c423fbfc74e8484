import { setDeprecated } from './strategy-type.ts';
import type { TransactionContext, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { lockStrategyType } from './lock-strategy-type.ts';

interface ChangeDeprecationRequest extends TransactionContext {
  readonly params: { readonly name: string };
}

/** Deprecates a strategy type, or reactivates it. */
export const changeDeprecation = (
  transaction: UnitOfWork,
  request: ChangeDeprecationRequest,
  deprecated: boolean,
): Promise<null> =>
  transaction(request, async (tx) => {
    const before = await lockStrategyType(tx, request.params.name);
    const { type, events } = setDeprecated(before, deprecated);
    await tx.strategyTypes.save(before, type, events);
    return null;
  });
