import { type Static, Type } from 'typebox';
import { ChangeRequestPreview } from '../change-requests/change-request.ts';
import { defineOperation } from '../operation.ts';
import { Nullable } from '../schemas.ts';
import { type Change, changeActions, type InverseChange } from './change.ts';
import { conflictCodes } from './conflicts.ts';

// The change requests service has parsed the changes already, and services trust one another.
const ParsedChange = Type.Unsafe<Change>(Type.Unknown());

/** A valid change: its target, its payload in the stored form, and the state that it would replace. */
export const CheckedChange = Type.Object({
  action: Type.Enum([...changeActions], { type: 'string' }),
  feature: Nullable(Type.String(), { description: 'the feature that it concerns' }),
  segment: Nullable(Type.Object({ id: Type.Integer(), name: Type.String() }), {
    description: 'the segment that it concerns, with its current name',
  }),
  payload: Type.Unknown({ description: 'normalised: weights, defaults and ids as they would be stored' }),
  snapshot: Type.Unknown({
    description: 'the current state that the change would replace; null if it replaces nothing',
  }),
  featureCreatedAt: Type.Optional(
    Type.String({
      description:
        'when its feature was created, by which another one that gets the name later differs. Absent for segments, and from older versions',
    }),
  ),
});
export type CheckedChange = Static<typeof CheckedChange>;

/** Validates changes on top of earlier ones, and returns their results. Nothing is stored. */
export const CheckChanges = defineOperation({
  subject: 'call.features.check-changes',
  summary: 'Validate changes on top of earlier ones',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    environment: Type.String(),
    changes: Type.Array(ParsedChange, { description: 'the changes to be checked' }),
    earlier: Type.Array(ParsedChange, { description: 'the changes that the request already has' }),
    order: Type.Optional(
      Type.Array(Type.Integer(), {
        description:
          'the order in which they are applied, as indexes into the earlier changes followed by the new ones; it omits replaced changes. Without it all are applied as listed',
      }),
    ),
  }),
  reply: Type.Object({ changes: Type.Array(CheckedChange, { description: 'one for each change, in the same order' }) }),
  errors: ['ValidationError', 'ExceedsLimitError', 'ArchivedFeatureError', 'InvalidOperationError', 'NotFoundError'],
});

/** A change of a change request, with its snapshot: the state that it replaced when it was proposed or scheduled. */
export const ChangeWithSnapshot = Type.Object({
  id: Type.Integer(),
  change: Type.Unsafe<Change>(Type.Unknown()),
  snapshot: Type.Unknown({
    description: 'the state that the change replaced when it was proposed or scheduled; null for none',
  }),
  featureCreatedAt: Type.Optional(
    Type.String({
      description:
        'when the feature for which it was proposed was created; it is in conflict with another one of that name. Absent where that is unknown',
    }),
  ),
});
export type ChangeWithSnapshot = Static<typeof ChangeWithSnapshot>;

export const FeaturePreview = ChangeRequestPreview.properties.features.items;
export type FeaturePreview = Static<typeof FeaturePreview>;

/** Returns the result of each change request of a project, applied alone by the same rules as `apply-changes`. Nothing is stored. */
export const PreviewChanges = defineOperation({
  subject: 'call.features.preview-changes',
  summary: 'Preview the effect of change requests',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    withStates: Type.Boolean({ description: 'whether to return the states before and after' }),
    requests: Type.Array(Type.Object({ environment: Type.String(), changes: Type.Array(ChangeWithSnapshot) })),
  }),
  reply: Type.Object({
    previews: Type.Array(
      Type.Object({
        preview: ChangeRequestPreview,
        snapshots: Type.Array(Type.Object({ id: Type.Integer(), snapshot: Type.Unknown() }), {
          description: 'the current state that each change would replace; only with states',
        }),
      }),
      { description: 'one for each request, in the same order' },
    ),
  }),
  errors: ['NotFoundError'],
});
export type PreviewChangesReply = Static<typeof PreviewChanges.reply>;

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
  summary: 'Apply the changes of a change request, all or none, exactly once',
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
    segmentPermissions: Type.Optional(
      Type.Array(Type.Enum(['UPDATE_SEGMENT', 'DELETE_SEGMENT'], { type: 'string' }), {
        description:
          'the permissions for segments of all projects that the user who applies it has; nothing is applied if a change needs another one. Absent from older versions: none',
      }),
    ),
    approvedBases: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'the bases for which it was approved, as `preview-changes` returns them; nothing is applied if one of them is not the current one',
      }),
    ),
    changes: Type.Array(ChangeWithSnapshot),
    refuseOverwrites: Type.Boolean({ description: 'whether to refuse to undo newer edits' }),
  }),
  reply: AppliedChanges,
  errors: ['NotFoundError', 'ConflictError'],
});

/** Sets whether direct edits in an environment require `SKIP_CHANGE_REQUEST`, because change requests protect it. */
export const SetProtection = defineOperation({
  subject: 'call.features.set-protection',
  summary: 'Set whether an environment refuses direct edits',
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
