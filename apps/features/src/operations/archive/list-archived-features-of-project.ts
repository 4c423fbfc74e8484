import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeaturesOfProject } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';

export const listArchivedFeaturesOfProjectEndpoint = (parts: FeaturePartsReader) =>
  implement(
    ListArchivedFeaturesOfProject,
    async ({ params, caller }) => new JsonText(await parts.archived(params.projectId, caller.id, [])),
  );
