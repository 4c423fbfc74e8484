import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Returns whether any feature has a dependency. */
export const HasDependencies = defineOperation({
  subject: 'call.features.has-dependencies',
  operationId: 'checkDependenciesExist',
  summary: 'Check whether any dependency exists',
  description: 'Returns whether any feature depends on another.',
  tag: 'Dependencies',
  http: { method: 'GET', url: '/api/admin/projects/:projectId/dependencies' },
  permission: 'authenticated',
  params: ProjectPath,
  reply: Type.Boolean({ description: 'whether any feature depends on another' }),
});
