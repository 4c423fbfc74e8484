import { type Static, Type } from 'typebox';
import { conflictCodes } from '../../changes/conflicts.ts';
import type { InverseChange } from '../../changes/change.ts';
import { defineOperation } from '../../operation.ts';
import { ChangeWithSnapshot } from './preview-changes.ts';

/** The outcome of an attempt to apply a change request. */
export const AppliedChanges = Type.Object({
  outcome: Type.Enum(['applied', 'conflict', 'overwrites'], { type: 'string' }),
  conflicts: Type.Array(
    Type.Object({
      code: Type.Enum([...conflictCodes], { type: 'string' }),
      message: Type.String(),
      feature: Type.Optional(Type.String()),
      segment: Type.Optional(Type.Integer()),
      changeId: Type.Optional(Type.Integer()),
    }),
    { description: 'the reasons why nothing was applied' },
  ),
  inverse: Type.Array(Type.Unsafe<InverseChange>({}), { description: 'the changes that undo what was applied' }),
});
export type AppliedChanges = Static<typeof AppliedChanges>;

/**
 * Applies all changes of a change request in one transaction, or none. A repeated call for an attempt returns the stored outcome. Once an
 * attempt has applied the changes, or a later attempt was called, earlier attempts have no effect. After a restored backup, ids of change
 * requests can repeat: with another uid or other changes, it is another change request.
 */
export const ApplyChanges = defineOperation({
  subject: 'call.features.apply-changes',
  operationId: 'applyChanges',
  summary: 'Apply the changes of a change request, all or none, exactly once',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    changeRequestId: Type.Integer(),
    uid: Type.Optional(
      Type.String({
        format: 'uuid',
        description: 'distinguishes change requests with the same id from before and after a restore',
      }),
    ),
    attempt: Type.Integer({ minimum: 1, description: 'the attempt; incremented each time that applying begins' }),
    project: Type.String(),
    environment: Type.String(),
    authorisedEnvironments: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'the protected environments of the project for which it was approved; nothing is applied if the changes affect another one. Absent from older versions: its own',
      }),
    ),
    changes: Type.Array(ChangeWithSnapshot),
    refuseOverwrites: Type.Boolean({ description: 'whether to refuse to undo newer edits' }),
  }),
  reply: AppliedChanges,
  errors: ['NotFoundError', 'ConflictError'],
});
