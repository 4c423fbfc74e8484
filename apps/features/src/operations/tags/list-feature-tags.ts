import { implement, JsonText } from '@bunting/bus';
import { ListFeatureTags } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';

export const listFeatureTagsEndpoint = (features: FeatureReader) =>
  implement(ListFeatureTags, async ({ params }) => new JsonText(await features.tagsOf(params.featureName)));
