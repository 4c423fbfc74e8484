import { ProjectSettingsBody } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Changes the mode, the naming pattern and the feature limit of a project. Emits `project-updated`. */
export const UpdateProjectSettings = defineOperation({
  subject: 'call.features.update-project-settings',
  operationId: 'updateProjectEnterpriseSettings',
  summary: 'Update the mode, naming pattern and feature limit of a project',
  description:
    'The name, the description and the default stickiness are changed by `PUT /api/admin/projects/{projectId}`.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/settings' },
  permission: ['UPDATE_PROJECT', 'PROJECT_SETTINGS_WRITE'],
  params: ProjectPath,
  body: ProjectSettingsBody,
  changesProjectVisibility: true,
  errors: ['ValidationError', 'PatternError', 'NotFoundError'],
});
