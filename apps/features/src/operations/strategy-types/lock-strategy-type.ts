import type { StoredStrategyType } from '../../domain/strategy-types/strategy-type.ts';
import { strategyTypeNotFound } from '../../domain/refusals.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Locks a strategy type. */
export const lockStrategyType = async (
  { strategyTypes }: Pick<Transaction, 'strategyTypes'>,
  name: string,
): Promise<StoredStrategyType> => {
  const type = await strategyTypes.findForUpdate(name);
  if (type === undefined) throw strategyTypeNotFound();
  return type;
};
