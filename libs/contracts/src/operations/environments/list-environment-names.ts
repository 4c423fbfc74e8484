import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Lists the names of all environments, for services that need no more of them. */
export const ListEnvironmentNames = defineOperation({
  subject: 'call.features.list-environment-names',
  operationId: 'listEnvironmentNames',
  summary: 'List the names of the environments, in their order',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  reply: Type.Object({ names: Type.Array(Type.String()) }),
});
