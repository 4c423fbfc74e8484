import { Type } from 'typebox';
import { SegmentUsage } from '../../../model/strategies/segment.ts';
import { defineOperation } from '../../../operation.ts';

/** Returns the strategies that would use a segment after open change requests are applied, within the projects that the caller may see. */
export const ListProposedSegmentStrategies = defineOperation({
  subject: 'call.change-requests.list-proposed-segment-strategies',
  operationId: 'listProposedSegmentStrategies',
  summary: 'List the strategies that would use a segment after the change requests that are not closed',
  tag: 'Internal',
  permission: 'service',
  idempotent: true,
  body: Type.Object({ segment: Type.Integer() }),
  reply: Type.Object({ changeRequestStrategies: SegmentUsage.properties.changeRequestStrategies }),
});
