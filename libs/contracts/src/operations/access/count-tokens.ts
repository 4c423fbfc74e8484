import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Says how many API tokens there are for environments, for the service that shows them. What has no tokens is left out. */
export const CountTokens = defineOperation({
  subject: 'call.gateway.count-tokens',
  operationId: 'tokensOfEnvironments',
  summary: 'Says how many API tokens there are for environments',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ project: Type.Optional(Type.String({ description: 'only those that give this project' })) }),
  reply: Type.Object({
    environments: Type.Array(Type.Object({ name: Type.String(), tokens: Type.Integer() })),
  }),
});
