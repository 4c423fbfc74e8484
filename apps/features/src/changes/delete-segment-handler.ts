import { segmentInUse } from '@bunting/contracts';
import { shortName } from '../refusals.ts';
import * as segments from '../segments/segment.ts';
import { findEditsLostByDeletion } from './snapshots.ts';
import type { SegmentActionHandler } from './action-handler.ts';
import { referrersOfSegment } from './state-after-changes.ts';

/** Deletes a segment of the project that neither a feature nor a default strategy uses any more. */
export const deleteSegmentHandler: SegmentActionHandler<'deleteSegment'> = {
  phase: 'delete segments',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (segment) => segments.segmentSnapshot(segment),
  overwrites: (_, states) => findEditsLostByDeletion(states),
  decide: (segment, _, context) => {
    // Nothing is hidden, since the conflict below names no referrer.
    const deleted = segments.deleteSegment(segment, { referrers: referrersOfSegment(context, segment.id), hidden: [] });
    return { subject: null, events: [deleted], payload: { id: segment.id } };
  },
  conflict: ({ kind }, { name }) => (kind === 'ConflictError' ? segmentInUse(shortName(name)) : undefined),
};
