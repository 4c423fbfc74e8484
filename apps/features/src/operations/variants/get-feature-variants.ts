import { implement, JsonText } from '@bunting/bus';
import { GetFeatureVariants } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const getFeatureVariantsEndpoint = (parts: FeaturePartsReader) =>
  implement(GetFeatureVariants, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.variants(at));
  });
