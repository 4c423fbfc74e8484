import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Gives every role in one environment the permissions that it has in another. Emits `role-updated` for each that changes. */
export const CopyEnvironmentPermissions = defineOperation({
  subject: 'call.gateway.copy-environment-permissions',
  operationId: 'copyPermissionsOfEnvironment',
  summary: 'Gives roles in one environment the permissions that they have in another',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ from: Type.String(), to: Type.String() }),
});
