import { type Bus, call, implement, JsonText, onBehalfOf } from '@bunting/bus';
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
  implement(ListStrategiesOfSegment, async (asked) => {
    const { id: segment } = asked.params;
    const strategies = await segments.strategiesOf(segment, hiddenFrom(asked.caller));
    const { changeRequestStrategies } = await call(bus, ListSegmentUses, { body: { segment } }, onBehalfOf(asked));
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
