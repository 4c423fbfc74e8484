import { implement, JsonText } from '@bunting/bus';
import { ValidateArchive } from '@bunting/contracts';
import type { FeaturePartsReader } from '../../persistence/feature-parts-reader.ts';
import { authorise } from '../authorise.ts';

export const validateArchiveEndpoint = (parts: FeaturePartsReader) =>
  implement(ValidateArchive, async ({ params, body, caller }) => {
    authorise(caller, ValidateArchive.permission, { project: params.projectId });
    return new JsonText(await parts.archiveValidation(params.projectId, body.features));
  });
