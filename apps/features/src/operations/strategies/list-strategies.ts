import { implement } from '@bunting/bus';
import { ListStrategies } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';

export const listStrategiesEndpoint = ({ parts }: FeaturesContext) =>
  implement(ListStrategies, async (request) => {
    const { params } = request;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(request, await parts.strategies(at, params.environment));
  });
