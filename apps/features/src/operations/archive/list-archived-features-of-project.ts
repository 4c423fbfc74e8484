import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeaturesOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listArchivedFeaturesOfProjectEndpoint = ({ archive }: FeaturesContext) =>
  implement(
    ListArchivedFeaturesOfProject,
    async ({ params, caller }) => new JsonText(await archive.features(params.projectId, caller.id, [])),
  );
