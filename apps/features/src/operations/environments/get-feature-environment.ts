import { implement } from '@bunting/bus';
import { GetFeatureEnvironment } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { tagged } from '../tagged.ts';

export const getFeatureEnvironmentEndpoint = (parts: FeaturePartsReader) =>
  implement(GetFeatureEnvironment, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.environment(at, params.environment));
  });
