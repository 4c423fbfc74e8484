import { implement, JsonText } from '@bunting/bus';
import { GetFeatureEnvironment } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const getFeatureEnvironmentEndpoint = (parts: FeaturePartsReader) =>
  implement(GetFeatureEnvironment, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.environment(at, params.environment));
  });
