import { implement, JsonText } from '@bunting/bus';
import { ListSegments } from '@bunting/contracts';
import type { SegmentReader } from '../../persistence/segment-repository.ts';

export const listSegmentsEndpoint = (segments: SegmentReader) =>
  implement(ListSegments, async () => new JsonText(await segments.all()));
