import { type ChangeOf, invalidProperty } from '@bunting/contracts';
import * as segments from '../segments/segment.ts';
import { findNewerEdits } from './snapshots.ts';
import type { SegmentActionHandler } from './action-handler.ts';
import { segmentIdOfName, referrersOfSegment } from './state-after-changes.ts';
import { payloadAfterChange } from './payload-after-change.ts';

const changeableProperties: Readonly<Record<Exclude<keyof ChangeOf<'updateSegment'>['payload'], 'id'>, true>> = {
  name: true,
  description: true,
  project: true,
  constraints: true,
};

/** Changes a segment of the project, for every feature that uses it. Omitted properties do not change. */
export const updateSegmentHandler: SegmentActionHandler<'updateSegment'> = {
  phase: 'update segments',
  errorPath: '/payload/name',
  alsoReads: ({ payload: { name } }) => ({ segmentNames: name === undefined ? [] : [name] }),
  snapshot: (segment) => segments.segmentSnapshot(segment),
  overwrites: ({ payload: { id: _, ...properties } }, states) => findNewerEdits(states, properties),
  decide: (segment, { payload }, context, path) => {
    // A request is reviewed and applied by people of one project: what others use is not theirs to change.
    if (payload.project === null)
      throw invalidProperty('A change request cannot make a segment one of all projects', `${path}/payload/project`);
    if (payload.project !== undefined && payload.project !== context.project)
      throw invalidProperty('A change request cannot move a segment to another project', `${path}/payload/project`);
    const referrers = referrersOfSegment(context, segment.id);
    const idOfName = (name: string): number | undefined => segmentIdOfName(context, name);
    const { projectContext } = context;
    // Nothing is hidden: only the refusal of a move to another project names referrers, and such a move was refused above.
    const updateContext = { referrers, hidden: [], idOfName, projectContext };
    const decision = segments.updateSegment(segment, payload, updateContext, `${path}/payload`);
    const changed = payloadAfterChange(changeableProperties, payload, decision.segment);
    return {
      subject: decision.segment,
      events: decision.events,
      payload: { id: segment.id, ...changed },
    };
  },
  conflict: ({ kind, message }) => (kind === 'NameExistsError' ? { code: 'segment-name', message } : undefined),
};
