import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Counts the API tokens of environments, for the service that shows environments. Environments without tokens are left out. */
export const CountEnvironmentTokens = defineOperation({
  subject: 'call.gateway.count-environment-tokens',
  operationId: 'countEnvironmentTokens',
  summary: 'Count the API tokens of environments',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'only the tokens of this project' })) }),
  reply: Type.Object({
    environments: Type.Array(Type.Object({ name: Type.String(), tokens: Type.Integer() })),
  }),
});
