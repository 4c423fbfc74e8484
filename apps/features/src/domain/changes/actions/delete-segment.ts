import { segmentInUse } from '@bunting/contracts';
import { shortName } from '../../refusals.ts';
import * as segments from '../../constraints/segment.ts';
import { editsLostByDeletion } from '../overwritten-edits.ts';
import type { SegmentRule } from '../rule.ts';
import { usersOfSegment } from '../dependents.ts';

/** Deletes a segment of the project that no feature uses any more. */
export const deleteSegmentRule: SegmentRule<'deleteSegment'> = {
  phase: 'delete segments',
  errorPath: '/payload/id',
  alsoReads: () => ({}),
  snapshot: (segment) => segments.segmentSnapshot(segment),
  overwrites: (_, states) => editsLostByDeletion(states),
  decide: (segment, _, context) => {
    // The conflict below names none of the users.
    const decision = segments.deleteSegment(segment, { users: usersOfSegment(context, segment.id), hidden: [] });
    return { subject: decision.segment, events: decision.events, payload: { id: segment.id } };
  },
  conflict: ({ kind }, { name }) => (kind === 'ConflictError' ? segmentInUse(shortName(name)) : undefined),
};
