import { implement } from '@bunting/bus';
import { GetStrategy } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { tagged } from '../tagged.ts';

export const getStrategyEndpoint = (parts: FeaturePartsReader) =>
  implement(GetStrategy, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.strategy(at, params.environment, params.strategyId));
  });
