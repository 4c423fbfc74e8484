import { implement } from '@bunting/bus';
import { GetFeatureEnvironment } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEnvironmentEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetFeatureEnvironment, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await parts.environment(at, params.environment));
  });
