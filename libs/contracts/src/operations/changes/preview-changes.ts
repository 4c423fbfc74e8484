import { type Static, Type } from 'typebox';
import type { Change } from '../../changes/index.ts';
import { ChangeRequestPreview } from '../../model/change-request.ts';
import { defineOperation } from '../../operation.ts';

/** A change of a request, with what it replaced when it was written. */
export const RequestedChange = Type.Object({
  id: Type.Integer(),
  change: Type.Unsafe<Change>(Type.Unknown()),
  snapshot: Type.Unknown({ description: 'what the change replaced when it was written; null for nothing' }),
});
export type RequestedChange = Static<typeof RequestedChange>;

export const FeaturePreview = ChangeRequestPreview.properties.features.items;
export type FeaturePreview = Static<typeof FeaturePreview>;

/** Says what change requests of one project would come to, each by itself: the fold of apply, without the save. */
export const PreviewChanges = defineOperation({
  subject: 'call.features.preview-changes',
  operationId: 'previewChangeRequests',
  summary: 'Says what change requests would come to',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({
    project: Type.String(),
    withStates: Type.Boolean({ description: 'whether to say what everything is before and after' }),
    requests: Type.Array(Type.Object({ environment: Type.String(), changes: Type.Array(RequestedChange) })),
  }),
  reply: Type.Object({
    previews: Type.Array(
      Type.Object({
        preview: ChangeRequestPreview,
        snapshots: Type.Array(Type.Object({ id: Type.Integer(), snapshot: Type.Unknown() }), {
          description: 'what each change would replace now; only with states',
        }),
      }),
      { description: 'one for each request, in the same order' },
    ),
  }),
  errors: ['NotFoundError'],
});
export type PreviewChangesReply = Static<typeof PreviewChanges.reply>;
