import { implement, JsonText } from '@bunting/bus';
import { ListStrategies } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const listStrategiesEndpoint = (parts: FeaturePartsReader) =>
  implement(ListStrategies, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.strategies(at, params.environment));
  });
