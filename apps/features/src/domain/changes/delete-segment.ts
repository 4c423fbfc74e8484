import * as segments from '../segment.ts';
import type { SegmentRule } from './rule.ts';
import { neighboursOf } from './segment-neighbours.ts';

/** Deletes a segment of the project that no feature uses any more. */
export const deleteSegment: SegmentRule<'deleteSegment'> = {
  phase: 8,
  culprit: '/payload/id',
  replaces: (segment) => segments.segmentSnapshot(segment),
  decide: (segment, _, situation) => {
    const decision = segments.deleteSegment(segment, neighboursOf(situation, segment.id));
    return { subject: decision.segment, events: decision.events, payload: { id: segment.id } };
  },
};
