import { ProjectSettingsBody } from '../../model/project.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Update the settings of a project. Emits `project-updated`. */
export const UpdateProjectSettings = defineOperation({
  subject: 'call.features.update-project-settings',
  operationId: 'updateProjectEnterpriseSettings',
  summary: 'Update the settings of a project',
  description: 'Changes the mode, the naming pattern and the feature limit of a project.',
  tag: 'Projects',
  http: { method: 'PUT', url: '/api/admin/projects/:projectId/settings' },
  permission: ['UPDATE_PROJECT', 'PROJECT_SETTINGS_WRITE'],
  params: ProjectPath,
  body: ProjectSettingsBody,
  errors: ['ValidationError', 'PatternError', 'NotFoundError'],
});
