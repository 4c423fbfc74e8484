import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { RequestedChange } from '../../changes/preview-changes.ts';

/** The changes of a change request that is not closed, as far as the caller may see it. */
export const ReadProposedChanges = defineOperation({
  subject: 'call.change-requests.read-proposed-changes',
  operationId: 'readProposedChanges',
  summary: 'Reads the changes of a change request',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ id: Type.Integer() }),
  reply: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    changes: Type.Array(RequestedChange),
  }),
  errors: ['NotFoundError', 'ValidationError'],
});
