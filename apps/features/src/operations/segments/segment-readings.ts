import { implement, JsonText } from '@bunting/bus';
import {
  invalid,
  ListSegmentsOfStrategy,
  ListStrategiesOfSegment,
  refusal,
  ValidateSegmentName,
} from '@bunting/contracts';
import type { SegmentUseReader } from '../../persistence/stored-segments.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listStrategiesOfSegmentEndpoint = (segments: SegmentUseReader) =>
  implement(
    ListStrategiesOfSegment,
    async ({ params, caller }) => new JsonText(await segments.strategiesOf(params.id, hiddenFrom(caller))),
  );

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
