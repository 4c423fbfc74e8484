import { implement, JsonText } from '@bunting/bus';
import { GetStrategy } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const getStrategyEndpoint = (parts: FeaturePartsReader) =>
  implement(GetStrategy, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.strategy(at, params.environment, params.strategyId));
  });
