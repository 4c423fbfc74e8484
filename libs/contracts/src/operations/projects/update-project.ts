import { UpdateProjectBody } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Changes the name, the description, the mode, the default stickiness and the feature limit of a project. Emits `project-updated`. */
export const UpdateProject = defineOperation({
  subject: 'call.features.update-project',
  operationId: 'updateProject',
  summary: 'Update the name, description, mode, default stickiness and feature limit of a project',
  description: 'The naming pattern is changed by `PUT /api/admin/projects/{projectId}/settings`.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId' },
  permission: 'UPDATE_PROJECT',
  params: ProjectPath,
  body: UpdateProjectBody,
  changesProjectVisibility: true,
  errors: ['ValidationError', 'NotFoundError'],
});
