import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Makes a feature a favourite. Emits `feature-favorited`. */
export const AddFavoriteFeature = defineOperation({
  subject: 'call.features.add-favorite-feature',
  operationId: 'addFavoriteFeature',
  summary: 'Add a feature to the favourites',
  description: 'Adds a feature to the favourites of the caller.',
  tag: 'Features',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/features/:featureName/favorites', anyContentType: true },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  errors: ['NotFoundError'],
});
