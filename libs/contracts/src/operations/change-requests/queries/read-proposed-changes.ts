import { Type } from 'typebox';
import { defineOperation } from '../../../operation.ts';
import { ChangeWithSnapshot } from '../../changes/preview-changes.ts';

/** Returns the changes of an open change request that the caller may see. */
export const ReadProposedChanges = defineOperation({
  subject: 'call.change-requests.read-proposed-changes',
  operationId: 'readProposedChanges',
  summary: 'Get the changes of a change request',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ id: Type.Integer() }),
  reply: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    changes: Type.Array(ChangeWithSnapshot),
  }),
  errors: ['NotFoundError', 'ValidationError'],
});
