import { implement, JsonText } from '@bunting/bus';
import { GetEnvironmentVariants } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const getEnvironmentVariantsEndpoint = (parts: FeaturePartsReader) =>
  implement(GetEnvironmentVariants, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.environmentVariants(at, params.environment));
  });
