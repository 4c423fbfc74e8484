import { implement } from '@bunting/bus';
import { GetFeatureVariants } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureVariantsEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetFeatureVariants, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await parts.variants(at));
  });
