import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEndpoint = ({ features }: FeaturesContext) =>
  implement(GetFeature, async (request) => {
    const { params, query, caller } = request;
    return replyWithEntityTag(request, await features.one(params, caller.id, query.variantEnvironments === 'true'));
  });
