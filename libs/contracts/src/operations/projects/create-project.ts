import { CreatedProject, CreateProjectBody } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a project. Emits `project-created`. */
export const CreateProject = defineOperation({
  subject: 'call.features.create-project',
  operationId: 'createProject',
  summary: 'Create a project',
  description: 'Creates a project in the environments that are named, or in every enabled one.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects', status: 201 },
  permission: 'CREATE_PROJECT',
  body: CreateProjectBody,
  reply: CreatedProject,
  changesProjectVisibility: true,
  errors: ['ValidationError', 'ExceedsLimitError', 'NameExistsError'],
});
