import { CreateSegmentBody } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';
import { SegmentPath } from '../paths.ts';

/** Updates a segment. Emits `segment-updated`. */
export const UpdateSegment = defineOperation({
  subject: 'call.features.update-segment',
  operationId: 'updateSegment',
  summary: 'Update a segment',
  description: 'Replaces the name, the description, the project and the constraints of a segment.',
  tag: 'Segments',
  http: { method: 'PUT', url: '/api/admin/segments/:id', status: 204 },
  ifMatch: 'segment',
  permission: ['UPDATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  params: SegmentPath,
  body: CreateSegmentBody,
  errors: ['ValidationError', 'NotFoundError', 'NameExistsError', 'ExceedsLimitError'],
});
