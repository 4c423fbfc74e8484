import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { CheckedChange } from '../../changes/check-changes.ts';

/**
 * Creates a change request from the changes of an import that need approval, and sends it to review. A repeated call for the
 * same import creates no second one.
 */
export const ProposeImport = defineOperation({
  subject: 'call.change-requests.propose-import',
  operationId: 'proposeImport',
  summary: 'Create a change request for the changes of an import that need approval',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    importId: Type.String({ description: 'the id of the import' }),
    project: Type.String(),
    environment: Type.String(),
    title: Type.String(),
    by: Type.Object(
      { id: Type.Integer(), name: Type.String(), username: Type.Optional(Type.String()) },
      { description: 'the user who imports' },
    ),
    changes: Type.Array(CheckedChange),
  }),
  reply: Type.Object({ id: Type.Integer({ description: 'the change request' }) }),
});
