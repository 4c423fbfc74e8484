import { BooleanReply } from '../../model/names.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Say whether there are dependencies. */
export const HasDependencies = defineOperation({
  subject: 'call.features.has-dependencies',
  operationId: 'checkDependenciesExist',
  summary: 'Say whether there are dependencies',
  description: 'Says whether any feature depends on another.',
  tag: 'Dependencies',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/dependencies' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: BooleanReply,
});
