import { Type } from 'typebox';
import { SegmentStrategies } from '../../../model/segment.ts';
import { defineOperation } from '../../../operation.ts';

/** Says which strategies would use a segment if change requests that are not closed were applied, as the caller may see them. */
export const ListSegmentUses = defineOperation({
  subject: 'call.change-requests.list-segment-uses',
  operationId: 'listSegmentUses',
  summary: 'Says where change requests are about to use a segment',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ segment: Type.Integer() }),
  reply: Type.Object({ changeRequestStrategies: SegmentStrategies.properties.changeRequestStrategies }),
});
