import { implement } from '@bunting/bus';
import { GetStrategy } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getStrategyEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetStrategy, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return replyWithEntityTag(request, await featureParts.strategy(at, params.environment, params.strategyId));
  });
