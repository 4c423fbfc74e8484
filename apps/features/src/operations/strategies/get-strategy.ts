import { implement } from '@bunting/bus';
import { GetStrategy } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getStrategyEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetStrategy, async (request) => replyWithEntityTag(request, await featureParts.strategy(request.params)));
