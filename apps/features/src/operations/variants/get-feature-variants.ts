import { implement } from '@bunting/bus';
import { GetFeatureVariants } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureVariantsEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(GetFeatureVariants, async (request) =>
    replyWithEntityTag(request, await featureParts.variants(request.params)),
  );
