import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Removes a project from the favourites. Emits `project-unfavorited`. */
export const RemoveFavoriteProject = defineOperation({
  subject: 'call.features.remove-favorite-project',
  operationId: 'removeFavoriteProject',
  summary: 'Remove a project from the favourites',
  description: 'Removes a project from the favourites of the caller.',
  tag: 'Projects',
  http: { method: 'DELETE', url: '/api/admin/projects/:projectId/favorites', anyContentType: true },
  permission: 'authenticated',
  params: ProjectPath,
  errors: ['NotFoundError'],
});
