import * as segments from '../../constraints/segment.ts';
import type { SegmentRule } from '../rule.ts';
import { segmentUsage } from '../dependents.ts';

/** Deletes a segment of the project that no feature uses any more. */
export const deleteSegmentRule: SegmentRule<'deleteSegment'> = {
  phase: 'delete segments',
  errorPath: '/payload/id',
  snapshot: (segment) => segments.segmentSnapshot(segment),
  decide: (segment, _, context) => {
    const decision = segments.deleteSegment(segment, segmentUsage(context, segment.id));
    return { subject: decision.segment, events: decision.events, payload: { id: segment.id } };
  },
};
