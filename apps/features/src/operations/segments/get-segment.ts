import { implement, JsonText } from '@bunting/bus';
import { GetSegment } from '@bunting/contracts';
import type { SegmentReader } from '../../persistence/segment-repository.ts';

export const getSegmentEndpoint = (segments: SegmentReader) =>
  implement(GetSegment, async ({ params }) => new JsonText(await segments.one(params.id)));
