import { implement } from '@bunting/bus';
import { ListFeatureTags } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';
import { tagged } from '../tagged.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listFeatureTagsEndpoint = (features: FeatureReader) =>
  implement(ListFeatureTags, async (asked) =>
    tagged(asked, await features.tagsOf(asked.params.featureName, hiddenFrom(asked.caller))),
  );
