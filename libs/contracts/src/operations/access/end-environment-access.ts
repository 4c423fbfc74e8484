import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/**
 * Ends the tokens and the permissions of roles that name an environment, before the features service commits a new one of that name: they
 * were for an earlier one. Emits `api-token-deleted` and `role-updated`.
 */
export const EndEnvironmentAccess = defineOperation({
  subject: 'call.gateway.end-environment-access',
  operationId: 'endEnvironmentAccess',
  summary: 'End the tokens and permissions of an environment that does not exist yet',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ environment: Type.String({ minLength: 1 }) }),
  errors: [],
});
