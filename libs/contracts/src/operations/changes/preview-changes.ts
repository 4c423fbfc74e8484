import { type Static, Type } from 'typebox';
import type { Change } from '../../changes/change.ts';
import { ChangeRequestPreview } from '../../model/change-requests/change-request.ts';
import { defineOperation } from '../../operation.ts';

/** A change of a change request, with its snapshot: the state that it replaced when it was proposed or scheduled. */
export const ChangeWithSnapshot = Type.Object({
  id: Type.Integer(),
  change: Type.Unsafe<Change>(Type.Unknown()),
  snapshot: Type.Unknown({
    description: 'the state that the change replaced when it was proposed or scheduled; null for none',
  }),
});
export type ChangeWithSnapshot = Static<typeof ChangeWithSnapshot>;

export const FeaturePreview = ChangeRequestPreview.properties.features.items;
export type FeaturePreview = Static<typeof FeaturePreview>;

/** Returns the result of each change request of a project, applied alone by the same rules as `apply-changes`. Nothing is stored. */
export const PreviewChanges = defineOperation({
  subject: 'call.features.preview-changes',
  operationId: 'previewChanges',
  summary: 'Preview the effect of change requests',
  tag: 'Internal',
  permission: 'service',
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
