import { implement } from '@bunting/bus';
import { UpdateStrategyType } from '@bunting/contracts';
import { isEqual } from '../../domain/is-equal.ts';
import { publicStrategyType, strategyTypeAfter } from '../../domain/strategies/strategy-type.ts';
import { authoriseAtRoot } from '../authorise-at-root.ts';
import { lockStrategyType, requireEditable } from './lock-strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const updateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateStrategyType, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authoriseAtRoot(caller, UpdateStrategyType.permission);
      const before = await lockStrategyType(tx, params.name);
      requireEditable(before);
      const after = strategyTypeAfter(before, body);
      if (isEqual(after, before)) return null;
      await tx.strategyTypes.save(after);
      tx.events.emit([{ type: 'strategy-updated', data: publicStrategyType(after) }]);
      return null;
    }),
  );
