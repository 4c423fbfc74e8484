import { defineOperation } from '../../operation.ts';
import { SegmentPath } from '../paths.ts';

/** Deletes a segment. Emits `segment-deleted`. */
export const DeleteSegment = defineOperation({
  subject: 'call.features.delete-segment',
  operationId: 'removeSegment',
  summary: 'Delete a segment',
  description: 'Removes a segment that no strategy of an active feature uses.',
  tag: 'Segments',
  http: { method: 'DELETE', url: '/api/admin/segments/:id', status: 204, anyContentType: true },
  ifMatch: 'segment',
  permission: ['DELETE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  params: SegmentPath,
  errors: ['NotFoundError', 'ConflictError'],
});
