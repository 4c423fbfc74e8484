import { implement } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getEnvironmentVariantsEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetEnvironmentVariants, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await parts.environmentVariants(at, params.environment));
  });
