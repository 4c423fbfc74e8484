import { implement } from '@bunting/bus';
import { ListFeatureTags } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const listFeatureTagsEndpoint = ({ features }: FeaturesContext) =>
  implement(ListFeatureTags, async (request) =>
    replyWithEntityTag(request, await features.tagsOf(request.params.featureName, hiddenProjectsOf(request.caller))),
  );
