import { implement, JsonText } from '@bunting/bus';
import { ListArchivedFeaturesOfProject } from '@bunting/contracts';
import type { FeaturesContext } from '../context.ts';

export const listArchivedFeaturesOfProjectEndpoint = ({ featureParts }: FeaturesContext) =>
  implement(
    ListArchivedFeaturesOfProject,
    async ({ params, caller }) => new JsonText(await featureParts.archived(params.projectId, caller.id, [])),
  );
