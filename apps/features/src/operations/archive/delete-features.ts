import { implement } from '@bunting/bus';
import { authorise, DeleteFeatures } from '@bunting/contracts';
import { requireChildrenAmong } from '../../domain/archive/archive-feature.ts';
import { requireFeaturesOfProject } from '../../domain/features/require-features-of-project.ts';
import { deleteArchivedFeatures } from './delete-archived-features.ts';
import type { FeaturesContext } from '../context.ts';

export const deleteFeaturesEndpoint = ({ transaction }: FeaturesContext) =>
  implement(DeleteFeatures, (request) =>
    transaction(request, async (tx) => {
      const { params, body, caller } = request;
      authorise(caller, DeleteFeatures.permission, { project: params.projectId });
      const features = await tx.features.findAllForUpdate(body.features);
      requireFeaturesOfProject(features, params.projectId);
      requireChildrenAmong(features, await tx.features.childrenOfAll(features.map(({ name }) => name)));
      await deleteArchivedFeatures(tx, features);
      return null;
    }),
  );
