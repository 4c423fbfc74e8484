import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Copies the permissions of every role from one environment to another. Emits `role-updated` for each that changes. */
export const CopyEnvironmentPermissions = defineOperation({
  subject: 'call.gateway.copy-environment-permissions',
  operationId: 'copyEnvironmentPermissions',
  summary: 'Copy the permissions of roles from one environment to another',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ from: Type.String(), to: Type.String() }),
});
