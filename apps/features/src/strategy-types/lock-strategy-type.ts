import type { StoredStrategyType } from './strategy-type.ts';
import { strategyTypeNotFound } from '../refusals.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';

/** Locks a strategy type. */
export const lockStrategyType = async (
  { strategyTypes }: Pick<Transaction, 'strategyTypes'>,
  name: string,
): Promise<StoredStrategyType> => {
  const type = await strategyTypes.findForUpdate(name);
  if (type === undefined) throw strategyTypeNotFound();
  return type;
};
