import { SegmentNameBody } from '../../model/names.ts';
import { defineOperation } from '../../operation.ts';

/** Check a name for a segment. */
export const ValidateSegmentName = defineOperation({
  subject: 'call.features.validate-segment-name',
  operationId: 'validateSegment',
  summary: 'Check a name for a segment',
  description: 'Says whether a segment of this name could be created.',
  tag: 'Segments',
  http: { method: 'POST', url: '/api/admin/segments/validate', status: 204 },
  permission: 'authenticated',
  idempotent: true,
  body: SegmentNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
