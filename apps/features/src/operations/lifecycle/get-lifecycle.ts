import { implement, JsonText } from '@bunting/bus';
import { GetLifecycle } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const getLifecycleEndpoint = (parts: FeaturePartsReader) =>
  implement(GetLifecycle, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.lifecycle(at));
  });
