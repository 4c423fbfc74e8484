import { implement } from '@bunting/bus';
import { GetFeature } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEndpoint = ({ features }: FeaturesContext) =>
  implement(GetFeature, async (request) => {
    const { params, query, caller } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await features.whole(at, caller.id, query.variantEnvironments === 'true'));
  });
