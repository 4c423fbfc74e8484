import * as segments from '../segment.ts';
import { wrong } from '../refusals.ts';
import type { SegmentRule } from './rule.ts';
import { neighboursOf } from './segment-neighbours.ts';

const changeable = ['name', 'description', 'project', 'constraints'] as const;

/** Changes a segment of the project, for every feature that uses it; what the change leaves out stays as it is. */
export const updateSegment: SegmentRule<'updateSegment'> = {
  phase: 1,
  culprit: '/payload/name',
  replaces: (segment) => segments.segmentSnapshot(segment),
  decide: (segment, { payload }, situation, at) => {
    if (typeof payload.project === 'string' && payload.project !== situation.project) {
      throw wrong('A change request cannot move a segment to another project', `${at}/payload/project`);
    }
    const neighbours = neighboursOf(situation, segment.id);
    const decision = segments.updateSegment(segment, payload, neighbours, `${at}/payload`);
    const after = decision.segment ?? segment;
    const changed = changeable
      .filter((member) => payload[member] !== undefined)
      .map((member) => [member, after[member]]);
    return {
      subject: decision.segment,
      events: decision.events,
      payload: { id: segment.id, ...Object.fromEntries(changed) },
    };
  },
};
