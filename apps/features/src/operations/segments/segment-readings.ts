import { type Bus, call, implement, JsonText, traceparentFrom } from '@bunting/bus';
import {
  invalid,
  ListSegmentUses,
  ListSegmentsOfStrategy,
  ListStrategiesOfSegment,
  refusal,
  ValidateSegmentName,
} from '@bunting/contracts';
import type { SegmentUseReader } from '../../persistence/stored-segments.ts';
import { hiddenFrom } from '../seen-by.ts';

/** Where a segment is used, and where change requests are about to use it: nobody is told "nowhere" while that is not known. */
export const listStrategiesOfSegmentEndpoint = (segments: SegmentUseReader, bus: Bus) =>
  implement(ListStrategiesOfSegment, async ({ params, caller, requestId, traceparent, deadline }) => {
    const timeoutMs = deadline.getTime() - Date.now();
    const context = { caller, requestId, traceparent: traceparentFrom(traceparent), timeoutMs };
    const strategies = await segments.strategiesOf(params.id, hiddenFrom(caller));
    const { changeRequestStrategies } = await call(bus, ListSegmentUses, { body: { segment: params.id } }, context);
    return { strategies, changeRequestStrategies };
  });

export const listSegmentsOfStrategyEndpoint = (segments: SegmentUseReader) =>
  implement(
    ListSegmentsOfStrategy,
    async ({ params, caller }) => new JsonText(await segments.ofStrategy(params.strategyId, hiddenFrom(caller))),
  );

export const validateSegmentNameEndpoint = (segments: SegmentUseReader) =>
  implement(ValidateSegmentName, async ({ body }) => {
    if (body.name.trim() === '') throw invalid('The `/body/name` property is not allowed to be empty.', '/body/name');
    if (await segments.isNameTaken(body.name)) throw refusal('NameExistsError', 'Segment name already exists');
    return null;
  });
