import { type Static, Type } from 'typebox';
import { Constraint } from '../model/strategies/constraint.ts';
import { Nullable } from '../model/schema.ts';
import { SegmentId, SegmentName } from '../model/strategies/segment.ts';
import { NoFeature } from './shared-properties.ts';

/** Changes a segment of the project. Omitted properties do not change. */
export const UpdateSegmentChange = Type.Object(
  {
    action: Type.Literal('updateSegment'),
    feature: NoFeature,
    payload: Type.Object({
      id: SegmentId,
      name: Type.Optional(SegmentName),
      description: Type.Optional(Nullable(Type.String(), { description: 'the description of the segment' })),
      project: Type.Optional(Nullable(Type.String(), { description: 'the one project that may use the segment' })),
      constraints: Type.Optional(
        Type.Array(Constraint, { description: 'all of these must hold for the segment to match' }),
      ),
    }),
  },
  {
    title: 'updateSegmentChangeSchema',
    description: 'Updates a segment of the project; omitted properties do not change.',
  },
);
export type UpdateSegmentChange = Static<typeof UpdateSegmentChange>;
