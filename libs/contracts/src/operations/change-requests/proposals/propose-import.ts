import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { CheckedChange } from '../../changes/check-changes.ts';

/**
 * Makes a change request of what an import may not do by itself, and sends it to review. One import makes one, however often
 * it is asked for.
 */
export const ProposeImport = defineOperation({
  subject: 'call.change-requests.propose-import',
  operationId: 'proposeImport',
  summary: 'Makes a change request of what an import may not do by itself',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    importId: Type.String({ description: 'which import it is' }),
    project: Type.String(),
    environment: Type.String(),
    title: Type.String(),
    by: Type.Object({ id: Type.Integer(), name: Type.String() }, { description: 'who imports' }),
    changes: Type.Array(CheckedChange),
  }),
  reply: Type.Object({ id: Type.Integer({ description: 'the change request' }) }),
});
