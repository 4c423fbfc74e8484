import { Type } from 'typebox';
import { Environment } from '../../model/environment.ts';
import { Nullable } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';
import { ProjectPath } from '../paths.ts';

/** Says which environments a project has, for the services that keep something per environment. */
export const GetProjectEnvironments = defineOperation({
  subject: 'call.features.get-project-environments',
  operationId: 'environmentsOfProject',
  summary: 'Says which environments a project has, in their order',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  params: ProjectPath,
  reply: Type.Object({
    environments: Type.Array(
      Type.Object({
        ...Environment.properties,
        requiredApprovals: Type.Optional(Nullable(Type.Integer(), { description: 'the least in every project' })),
      }),
    ),
  }),
  errors: ['NotFoundError'],
});
