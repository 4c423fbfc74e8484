import { CloneEnvironmentBody, EnvironmentDescription } from '../../model/environment.ts';
import { defineOperation } from '../../operation.ts';
import { NamePath } from '../paths.ts';

/**
 * Clones an environment. Emits `environment-created`, `project-environment-added` for each project, and for each feature the events of its settings:
 * `feature-strategy-add`, `feature-environment-variants-updated`, `feature-environment-enabled`.
 */
export const CloneEnvironment = defineOperation({
  subject: 'call.features.clone-environment',
  operationId: 'cloneEnvironment',
  summary: 'Clone an environment',
  description:
    'Adds an environment to projects, with the settings of their features in another one: strategies under new ids, variants, and whether they are enabled.',
  tag: 'Environments',
  http: { method: 'POST', url: '/api/admin/environments/:name/clone', takesLong: true },
  permission: 'ADMIN',
  params: NamePath,
  body: CloneEnvironmentBody,
  reply: EnvironmentDescription,
  errors: ['ValidationError', 'NotFoundError', 'NameExistsError', 'ExceedsLimitError'],
});
