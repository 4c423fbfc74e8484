import { EnvironmentDescription } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/** Reads an environment. */
export const GetEnvironment = defineOperation({
  subject: 'call.features.get-environment',
  operationId: 'getEnvironment',
  summary: 'Get an environment',
  description: 'Returns one environment.',
  tag: 'Environments',
  http: { method: 'GET', url: '/api/admin/environments/:name' },
  isHeavy: true,
  permission: 'authenticated',
  params: NamePath,
  reply: EnvironmentDescription,
  errors: ['NotFoundError'],
});
