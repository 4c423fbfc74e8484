import { Type } from 'typebox';
import { Environment } from '../../model/environment.ts';
import { Nullable } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Lists the environments of a project, for services with settings per environment. */
export const ListEnvironmentSettingsOfProject = defineOperation({
  subject: 'call.features.list-environment-settings-of-project',
  operationId: 'listEnvironmentSettingsOfProject',
  summary: 'List the environments of a project, in their order',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  params: ProjectPath,
  reply: Type.Object({
    environments: Type.Array(
      Type.Object({
        ...Environment.properties,
        requiredApprovals: Type.Optional(Nullable(Type.Integer(), { description: 'the minimum in every project' })),
      }),
    ),
  }),
  errors: ['NotFoundError'],
});
