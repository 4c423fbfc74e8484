import { type Endpoint, implement, reads, writes } from '@bunting/bus';
import {
  CreateStrategyType,
  DeleteStrategyType,
  DeprecateStrategyType,
  GetStrategyType,
  ListStrategyTypes,
  ReactivateStrategyType,
  UpdateStrategyType,
} from '@bunting/contracts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { strategyTypeNameTaken, strategyTypeNotFound } from '../refusals.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import {
  deleteStrategyType,
  newStrategyType,
  publicStrategyType,
  setDeprecated,
  type StoredStrategyType,
  updateStrategyType,
} from './strategy-type.ts';

export function strategyTypeEndpoints({ strategyTypes, transaction }: FeaturesContext): readonly Endpoint[] {
  return [
    reads(ListStrategyTypes, () => strategyTypes.all()),

    reads(GetStrategyType, ({ params }) => strategyTypes.one(params.name)),

    writes(CreateStrategyType, transaction, async ({ strategyTypes }, { body }) => {
      const { type, events } = newStrategyType(body);
      if (!(await strategyTypes.add(type, events))) throw strategyTypeNameTaken(type.name);
      return publicStrategyType(type);
    }),

    writes(UpdateStrategyType, transaction, async (tx, { params, body }) => {
      const before = await lockStrategyType(tx, params.name);
      const { type, events } = updateStrategyType(before, body);
      await tx.strategyTypes.save(before, type, events);
      return null;
    }),

    implement(DeprecateStrategyType, (request) => changeDeprecation(transaction, request, true)),

    implement(ReactivateStrategyType, (request) => changeDeprecation(transaction, request, false)),

    writes(DeleteStrategyType, transaction, async (tx, { params, caller }) => {
      const type = await lockStrategyType(tx, params.name);
      const referrers = await tx.strategyTypes.referrersOf(type.name);
      const event = deleteStrategyType(type, referrers, hiddenProjectsOf(caller));
      await tx.strategyTypes.remove(type.name, [event]);
      return null;
    }),
  ];
}

/** Locks a strategy type. */
const lockStrategyType = async (
  { strategyTypes }: Pick<Transaction, 'strategyTypes'>,
  name: string,
): Promise<StoredStrategyType> => {
  const type = await strategyTypes.findForUpdate(name);
  if (type === undefined) throw strategyTypeNotFound();
  return type;
};

interface ChangeDeprecationRequest extends TransactionContext {
  readonly params: { readonly name: string };
}

/** Deprecates a strategy type, or reactivates it. */
const changeDeprecation = (
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
