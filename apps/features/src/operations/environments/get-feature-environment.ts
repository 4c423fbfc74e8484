import { implement } from '@bunting/bus';
import { GetFeatureEnvironment } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureEnvironmentEndpoint = ({ parts }: FeaturesContext) =>
  implement(GetFeatureEnvironment, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.environment(at, params.environment));
  });
