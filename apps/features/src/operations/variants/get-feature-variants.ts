import { implement } from '@bunting/bus';
import { GetFeatureVariants } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureVariantsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetFeatureVariants, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return replyWithEntityTag(request, await featureParts.variants(at));
  });
