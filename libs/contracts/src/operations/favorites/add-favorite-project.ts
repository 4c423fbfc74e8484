import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Makes a project a favourite. Emits `project-favorited`. */
export const AddFavoriteProject = defineOperation({
  subject: 'call.features.add-favorite-project',
  operationId: 'addFavoriteProject',
  summary: 'Add a project to the favourites',
  description: 'Adds a project to the favourites of the caller.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/favorites', anyContentType: true },
  permission: 'authenticated',
  params: ProjectPath,
  errors: ['NotFoundError'],
});
