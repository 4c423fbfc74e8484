import { ProjectIdBody } from '../../model/project.ts';
import { defineOperation } from '../../operation.ts';

/** Check an id for a project. */
export const ValidateProjectId = defineOperation({
  subject: 'call.features.validate-project-id',
  operationId: 'validateProject',
  summary: 'Check an id for a project',
  description: 'Says whether a project of this id could be created.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/validate' },
  permission: 'CREATE_PROJECT',
  idempotent: true,
  body: ProjectIdBody,
  errors: ['ValidationError', 'NameExistsError'],
});
