import { defineOperation } from '../../operation.ts';
import { ProjectFeaturePath } from '../paths.ts';

/** Removes a feature from the favourites. Emits `feature-unfavorited`. */
export const RemoveFavoriteFeature = defineOperation({
  subject: 'call.features.remove-favorite-feature',
  operationId: 'removeFavoriteFeature',
  summary: 'Remove a feature from the favourites',
  description: 'Removes a feature from the favourites of the caller.',
  tag: 'Features',
  http: {
    method: 'DELETE',
    url: '/api/admin/projects/:projectId/features/:featureName/favorites',
    anyContentType: true,
  },
  permission: 'authenticated',
  params: ProjectFeaturePath,
  errors: ['NotFoundError'],
});
