import { ProjectEnvironmentBody } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Adds an environment to a project. Emits `project-environment-added`. */
export const AddProjectEnvironment = defineOperation({
  subject: 'call.features.add-project-environment',
  operationId: 'addEnvironmentToProject',
  summary: 'Add an environment to a project',
  description: 'Adds the environment to every feature of the project, disabled.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/:projectId/environments', takesLong: true },
  permission: 'UPDATE_PROJECT',
  params: ProjectPath,
  body: ProjectEnvironmentBody,
  errors: ['ValidationError', 'NotFoundError', 'ConflictError'],
});
