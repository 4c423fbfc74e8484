import { CreateSegmentBody, Segment } from '../../model/strategies/segment.ts';
import { defineOperation } from '../../operation.ts';

/** Creates a segment. Emits `segment-created`. */
export const CreateSegment = defineOperation({
  subject: 'call.features.create-segment',
  operationId: 'createSegment',
  summary: 'Create a segment',
  description: 'Creates a segment for every project, or for one.',
  tag: 'Segments',
  http: {
    method: 'POST',
    url: '/api/admin/segments',
    status: 201,
    location: (_request: unknown, reply: { id: number }) => `segments/${reply.id}`,
  },
  permission: ['CREATE_SEGMENT', 'UPDATE_PROJECT_SEGMENT'],
  body: CreateSegmentBody,
  reply: Segment,
  errors: ['ValidationError', 'ExceedsLimitError', 'NotFoundError', 'NameExistsError'],
});
