import { implement, JsonText } from '@bunting/bus';
import { GetStrategyType } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const getStrategyTypeEndpoint = ({ strategyTypes }: FeaturesContext) =>
  implement(GetStrategyType, async ({ params }) => new JsonText(await strategyTypes.one(params.name)));
