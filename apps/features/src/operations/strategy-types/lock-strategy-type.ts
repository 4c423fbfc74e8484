import { notFound, refusal } from '@bunting/contracts';
import type { StoredStrategyType } from '../../domain/strategies/strategy-type.ts';
import type { Transaction } from '../../persistence/unit-of-work.ts';

/** Locks a strategy type. */
export const lockStrategyType = async (
  { strategyTypes }: Pick<Transaction, 'strategyTypes'>,
  name: string,
): Promise<StoredStrategyType> => {
  const type = await strategyTypes.findForUpdate(name);
  if (type === undefined) throw notFound('No strategy found');
  return type;
};

/** Refuses to edit a built-in strategy type. */
export const requireEditable = ({ name, builtIn }: StoredStrategyType): void => {
  if (builtIn) throw refusal('OperationDeniedError', `Cannot edit strategy ${name}`);
};
