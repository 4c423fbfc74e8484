import { ValidateSegmentNameBody } from '../../model/validate-name-body.ts';
import { defineOperation } from '../../operation.ts';

/** Checks a name for a segment. */
export const ValidateSegmentName = defineOperation({
  subject: 'call.features.validate-segment-name',
  operationId: 'validateSegment',
  summary: 'Validate the name of a segment',
  description: 'Validates the name of a new segment. Nothing is stored.',
  tag: 'Segments',
  http: { method: 'POST', url: '/api/admin/segments/validate', status: 204 },
  permission: 'authenticated',
  readsOnly: true,
  body: ValidateSegmentNameBody,
  errors: ['ValidationError', 'NameExistsError'],
});
