import { implement } from '@bunting/bus';
import { GetStrategy } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getStrategyEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetStrategy, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await parts.strategy(at, params.environment, params.strategyId));
  });
