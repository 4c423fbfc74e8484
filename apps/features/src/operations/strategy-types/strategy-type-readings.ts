import { implement, JsonText } from '@bunting/bus';
import { GetStrategyType, ListStrategyTypes } from '@bunting/contracts';
import type { StrategyTypeReader } from '../../persistence/strategy-types.ts';

export const listStrategyTypesEndpoint = (types: StrategyTypeReader) =>
  implement(ListStrategyTypes, async () => new JsonText(await types.all()));

export const getStrategyTypeEndpoint = (types: StrategyTypeReader) =>
  implement(GetStrategyType, async ({ params }) => new JsonText(await types.one(params.name)));
