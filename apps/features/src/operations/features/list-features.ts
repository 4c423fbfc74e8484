import { implement, JsonText } from '@bunting/bus';
import { ListFeatures } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';

export const listFeaturesEndpoint = (features: FeatureReader) =>
  implement(
    ListFeatures,
    async ({ params, caller }) => new JsonText(await features.ofProject(params.projectId, caller.id)),
  );
