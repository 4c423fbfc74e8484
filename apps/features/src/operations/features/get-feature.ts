import { implement, JsonText } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';

export const getFeatureEndpoint = (features: FeatureReader) =>
  implement(GetFeature, async ({ params, query, caller }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await features.whole(at, caller.id, query.variantEnvironments === 'true'));
  });
