import { implement, JsonText } from '@bunting/bus';
import { ListStrategyTypes } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listStrategyTypesEndpoint = ({ strategyTypes: types }: FeaturesContext) =>
  implement(ListStrategyTypes, async () => new JsonText(await types.all()));
