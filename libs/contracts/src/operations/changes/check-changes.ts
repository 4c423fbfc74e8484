import { type Static, Type } from 'typebox';
import { type Change, changeActions } from '../../changes/change.ts';
import { Nullable } from '../../model/schema.ts';
import { defineOperation } from '../../operation.ts';

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
});
export type CheckedChange = Static<typeof CheckedChange>;

/** Validates changes on top of earlier ones, and returns their results. Nothing is stored. */
export const CheckChanges = defineOperation({
  subject: 'call.features.check-changes',
  operationId: 'checkChanges',
  summary: 'Validate changes on top of earlier ones',
  tag: 'Internal',
  permission: 'service',
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
