import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import type { FeatureReader } from '../../persistence/feature-reader.ts';
import { tagged } from '../tagged.ts';

export const getFeatureEndpoint = (features: FeatureReader) =>
  implement(GetFeature, async (asked) => {
    const { params, query, caller } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await features.whole(at, caller.id, query.variantEnvironments === 'true'));
  });
