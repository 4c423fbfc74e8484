import { implement, JsonText } from '@bunting/bus';
import { authorise, ValidateArchive } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const validateArchiveEndpoint = ({ archive }: FeaturesContext) =>
  implement(ValidateArchive, async ({ params, body, caller }) => {
    authorise(caller, ValidateArchive.permission, { project: params.projectId });
    return new JsonText(await archive.dependenciesInTheWay(params.projectId, body.features));
  });
