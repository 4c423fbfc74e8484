import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Says whether direct edits in an environment take a permission of their own, since there are change requests for them. */
export const SetProtection = defineOperation({
  subject: 'call.features.set-protection',
  operationId: 'setProtection',
  summary: 'Says whether direct edits in an environment are refused',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    isProtected: Type.Boolean(),
    version: Type.Integer({ description: 'what was said with a lower one is outdated' }),
  }),
});
