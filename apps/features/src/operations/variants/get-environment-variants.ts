import { implement } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getEnvironmentVariantsEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetEnvironmentVariants, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.environmentVariants(at, params.environment));
  });
