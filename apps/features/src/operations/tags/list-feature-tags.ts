import { implement } from '@bunting/bus';
import { ListFeatureTags } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const listFeatureTagsEndpoint = ({ features }: FeaturesContext) =>
  implement(ListFeatureTags, async (request) =>
    tagged(request, await features.tagsOf(request.params.featureName, hiddenFrom(request.caller))),
  );
