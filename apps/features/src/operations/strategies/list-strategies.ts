import { implement } from '@bunting/bus';
import { ListStrategies } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { tagged } from '../tagged.ts';

export const listStrategiesEndpoint = (parts: FeaturePartsReader) =>
  implement(ListStrategies, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.strategies(at, params.environment));
  });
