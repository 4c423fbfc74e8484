import { implement } from '@bunting/bus';
import { DeprecateStrategyType } from '@bunting/contracts';
import type { TransactionContext, UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { lockStrategyType } from './lock-strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

interface SetDeprecatedRequest extends TransactionContext {
  readonly params: { readonly name: string };
}

/** Strategies of a deprecated type stay, but new ones are not offered. Built-in types can be deprecated, too. */
export const setDeprecated = (
  transaction: UnitOfWork,
  request: SetDeprecatedRequest,
  deprecated: boolean,
): Promise<null> =>
  transaction(request, async (tx) => {
    authoriseAtRoot(request.caller, DeprecateStrategyType.permission);
    const before = await lockStrategyType(tx, request.params.name);
    if (before.deprecated === deprecated) return null;
    await tx.strategyTypes.save({ ...before, deprecated });
    const type = deprecated ? 'strategy-deprecated' : 'strategy-reactivated';
    tx.events.emit([{ type, data: { name: before.name } }]);
    return null;
  });

export const deprecateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeprecateStrategyType, (request) => setDeprecated(transaction, request, true));
