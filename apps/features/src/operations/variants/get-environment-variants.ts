import { implement } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { tagged } from '../tagged.ts';

export const getEnvironmentVariantsEndpoint = (parts: FeaturePartsReader) =>
  implement(GetEnvironmentVariants, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.environmentVariants(at, params.environment));
  });
