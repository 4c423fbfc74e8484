import { implement } from '@bunting/bus';
import { DeleteStrategyType } from '@bunting/contracts';
import { deleteStrategyType } from '../../domain/strategy-types/strategy-type.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import { lockStrategyType } from './lock-strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteStrategyType, (request) =>
    transaction(request, async (tx) => {
      const type = await lockStrategyType(tx, request.params.name);
      const referrers = await tx.strategyTypes.referrersOf(type.name);
      const event = deleteStrategyType(type, referrers, hiddenProjectsOf(request.caller));
      await tx.strategyTypes.remove(type.name, [event]);
      return null;
    }),
  );
