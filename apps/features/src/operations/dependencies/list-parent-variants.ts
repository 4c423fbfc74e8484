import { implement, JsonText } from '@bunting/bus';
import { ListParentVariants } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const listParentVariantsEndpoint = (parts: FeaturePartsReader) =>
  implement(ListParentVariants, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.variantNames(at));
  });
