import { Type } from 'typebox';
import { Segment, SegmentId } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';

/** Reads one segment. */
export const GetSegment = defineOperation({
  subject: 'call.features.get-segment',
  operationId: 'getSegment',
  summary: 'Get a segment',
  description: 'Returns one segment.',
  tag: 'Segments',
  http: { method: 'GET', url: '/api/admin/segments/:id' },
  permission: 'authenticated',
  params: Type.Object({ id: SegmentId }),
  reply: Segment,
  errors: ['ValidationError', 'NotFoundError'],
});
