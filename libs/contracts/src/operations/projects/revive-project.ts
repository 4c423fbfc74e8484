import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Revives a project. Emits `project-revived`. */
export const ReviveProject = defineOperation({
  subject: 'call.features.revive-project',
  operationId: 'reviveProject',
  summary: 'Revive a project',
  description: 'Brings an archived project back.',
  tag: 'Projects',
  http: { method: 'POST', url: '/api/admin/projects/revive/:projectId', anyContentType: true },
  permission: 'DELETE_PROJECT',
  params: ProjectPath,
  errors: ['NotFoundError'],
});
