import { implement } from '@bunting/bus';
import { GetFeatureVariants } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { tagged } from '../tagged.ts';

export const getFeatureVariantsEndpoint = (parts: FeaturePartsReader) =>
  implement(GetFeatureVariants, async (asked) => {
    const { params } = asked;
    const at = { project: params.projectId, name: params.featureName };
    return tagged(asked, await parts.variants(at));
  });
