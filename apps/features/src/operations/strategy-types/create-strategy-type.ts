import { implement } from '@bunting/bus';
import { CreateStrategyType } from '@bunting/contracts';
import { strategyTypeNameTaken } from '../../domain/refusals.ts';
import { newStrategyType, publicStrategyType } from '../../domain/strategy-types/strategy-type.ts';
import type { FeaturesContext } from '../context.ts';

export const createStrategyTypeEndpoint = ({ transaction }: FeaturesContext) =>
  implement(CreateStrategyType, (request) =>
    transaction(request, async ({ strategyTypes }) => {
      const { type, events } = newStrategyType(request.body);
      if (!(await strategyTypes.add(type, events))) throw strategyTypeNameTaken(type.name);
      return publicStrategyType(type);
    }),
  );
