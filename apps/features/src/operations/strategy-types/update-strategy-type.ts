import { implement } from '@bunting/bus';
import { UpdateStrategyType } from '@bunting/contracts';
import { updateStrategyType } from '../../domain/strategy-types/strategy-type.ts';
import { lockStrategyType } from './lock-strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const updateStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(UpdateStrategyType, (request) =>
    transaction(request, async (tx) => {
      const { params, body } = request;
      const before = await lockStrategyType(tx, params.name);
      const { type, events } = updateStrategyType(before, body);
      await tx.strategyTypes.save(before, type, events);
      return null;
    }),
  );
