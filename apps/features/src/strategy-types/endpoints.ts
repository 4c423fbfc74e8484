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
import { strategyTypeNameTaken } from '../refusals.ts';
import { deleteStrategyType, newStrategyType, publicStrategyType, updateStrategyType } from './strategy-type.ts';
import type { FeaturesContext } from '../context.ts';
import { changeDeprecation } from './change-deprecation.ts';
import { lockStrategyType } from './lock-strategy-type.ts';
import { hiddenProjectsOf } from '../visibility.ts';

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
