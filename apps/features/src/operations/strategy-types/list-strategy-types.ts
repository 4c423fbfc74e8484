import { implement, JsonText } from '@bunting/bus';
import { ListStrategyTypes } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listStrategyTypesEndpoint = ({ strategyTypes }: FeaturesContext) =>
  implement(ListStrategyTypes, async () => new JsonText(await strategyTypes.all()));
