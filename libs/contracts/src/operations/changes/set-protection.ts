import { Type } from 'typebox';
import { defineOperation } from '../../operation.ts';

/** Sets whether direct edits in an environment require `SKIP_CHANGE_REQUEST`, because change requests protect it. */
export const SetProtection = defineOperation({
  subject: 'call.features.set-protection',
  operationId: 'setProtection',
  summary: 'Set whether an environment refuses direct edits',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    isProtected: Type.Boolean(),
    version: Type.Integer({ description: 'the version of the setting; requests with a lower one are outdated' }),
  }),
  reply: Type.Object(
    {
      isProtected: Type.Boolean(),
      version: Type.Integer(),
    },
    { description: 'the stored setting, which may be a newer one' },
  ),
});
