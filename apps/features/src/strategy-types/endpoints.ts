import { type Endpoint, reads, writes } from '@bunting/bus';
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
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
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

    writes(UpdateStrategyType, transaction, (tx, { params, body }) =>
      editStrategyType(tx, params.name, (before) => updateStrategyType(before, body)),
    ),

    writes(DeprecateStrategyType, transaction, (tx, { params }) =>
      editStrategyType(tx, params.name, (before) => setDeprecated(before, true)),
    ),

    writes(ReactivateStrategyType, transaction, (tx, { params }) =>
      editStrategyType(tx, params.name, (before) => setDeprecated(before, false)),
    ),

    writes(DeleteStrategyType, transaction, async (tx, { params, caller }) => {
      const type = await lockStrategyType(tx, params.name);
      const referrers = await tx.strategyTypes.referrersOf(type.name);
      const event = deleteStrategyType(type, referrers, hiddenProjectsOf(caller));
      await tx.strategyTypes.remove(type.name, [event]);
      return null;
    }),
  ];
}

async function lockStrategyType(
  { strategyTypes }: Pick<Transaction, 'strategyTypes'>,
  name: string,
): Promise<StoredStrategyType> {
  const type = await strategyTypes.findForUpdate(name);
  if (type === undefined) throw strategyTypeNotFound();
  return type;
}

/** Locks a strategy type, and saves what a rule decides about it. */
async function editStrategyType(
  tx: Transaction,
  name: string,
  rule: (before: StoredStrategyType) => ReturnType<typeof setDeprecated>,
): Promise<null> {
  const before = await lockStrategyType(tx, name);
  const { type, events } = rule(before);
  await tx.strategyTypes.save(before, type, events);
  return null;
}
