import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeatures } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listArchivedFeaturesEndpoint = (parts: FeaturePartsReader) =>
  implement(
    ListArchivedFeatures,
    async ({ caller }) => new JsonText(await parts.archived(null, caller.id, hiddenFrom(caller))),
  );
