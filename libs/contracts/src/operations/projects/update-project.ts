import { UpdateProjectBody } from '../../model/project.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Update a project. Emits `project-updated`. */
export const UpdateProject = defineOperation({
  subject: 'call.features.update-project',
  operationId: 'updateProject',
  summary: 'Update a project',
  description: 'Changes the name, the description, the mode and the default stickiness of a project.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId' },
  permission: 'UPDATE_PROJECT',
  params: ProjectPath,
  body: UpdateProjectBody,
  errors: ['ValidationError', 'NotFoundError'],
});
