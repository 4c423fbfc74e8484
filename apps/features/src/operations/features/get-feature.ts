import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEndpoint = ({ features }: FeaturesContext) =>
  implement(GetFeature, async (request) => {
    const { params, query, caller } = request;
    const at = { project: params.projectId, name: params.featureName };
    return replyWithEntityTag(request, await features.whole(at, caller.id, query.variantEnvironments === 'true'));
  });
