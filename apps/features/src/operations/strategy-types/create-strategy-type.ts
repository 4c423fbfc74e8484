import { implement } from '@bunting/bus';
import { CreateStrategyType } from '@bunting/contracts';
import { strategyTypeNameTaken } from '../../domain/refusals.ts';
import { newStrategyType, publicStrategyType } from '../../domain/strategies/strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const createStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateStrategyType, (request) =>
    transaction(request, async ({ strategyTypes, events }) => {
      const { type, events: created } = newStrategyType(request.body);
      if (!(await strategyTypes.add(type))) throw strategyTypeNameTaken(type.name);
      events.emit(created);
      return publicStrategyType(type);
    }),
  );
