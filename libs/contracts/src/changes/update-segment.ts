import { type Static, Type } from 'typebox';
import { Constraint } from '../model/constraint.ts';
import { Nullable } from '../model/schema.ts';
import { SegmentId, SegmentName } from '../model/segment.ts';
import { NoFeature } from './members.ts';

/** Changes a segment of the project; what is left out stays as it is. */
export const UpdateSegment = Type.Object(
  {
    action: Type.Literal('updateSegment'),
    feature: NoFeature,
    payload: Type.Object({
      id: SegmentId,
      name: Type.Optional(SegmentName),
      description: Type.Optional(Nullable(Type.String(), { description: 'who is in the segment, in words' })),
      project: Type.Optional(Nullable(Type.String(), { description: 'the one project that may use the segment' })),
      constraints: Type.Optional(
        Type.Array(Constraint, { description: 'all of these must hold for the segment to match' }),
      ),
    }),
  },
  {
    title: 'updateSegmentChangeSchema',
    description: 'Changes a segment of the project; what is left out stays as it is.',
  },
);
export type UpdateSegment = Static<typeof UpdateSegment>;
