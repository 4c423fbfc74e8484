import { type Static, Type } from 'typebox';
import { SegmentId } from '../model/strategies/segment.ts';
import { NoFeature } from './shared-properties.ts';

/** Deletes a segment of the project. */
export const DeleteSegmentChange = Type.Object(
  {
    action: Type.Literal('deleteSegment'),
    feature: NoFeature,
    payload: Type.Object({ id: SegmentId }),
  },
  { title: 'deleteSegmentChangeSchema', description: 'Deletes a segment of the project.' },
);
export type DeleteSegmentChange = Static<typeof DeleteSegmentChange>;
