import { implement, JsonText } from '@bunting/bus';
import { ListPossibleParents } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const listPossibleParentsEndpoint = (parts: FeaturePartsReader) =>
  implement(ListPossibleParents, async ({ params }) => {
    const at = { project: params.projectId, name: params.featureName };
    return new JsonText(await parts.possibleParents(at));
  });
