import { ProjectIdBody } from '../../model/projects/project.ts';
import { defineOperation } from '../../operation.ts';

/** Checks an id for a project. */
export const ValidateProjectId = defineOperation({
  subject: 'call.features.validate-project-id',
  operationId: 'validateProject',
  summary: 'Validate the id of a project',
  description: 'Validates the id of a new project. Nothing is stored.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/validate' },
  permission: 'CREATE_PROJECT',
  readsOnly: true,
  body: ProjectIdBody,
  errors: ['ValidationError', 'NameExistsError'],
});
