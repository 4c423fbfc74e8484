import { implement, JsonText } from '@bunting/bus';
import { ListSegments } from '@bunting/contracts';
import type { SegmentReader } from '../../persistence/segment-repository.ts';
import { hiddenFrom } from '../seen-by.ts';

export const listSegmentsEndpoint = (segments: SegmentReader) =>
  implement(ListSegments, async ({ caller }) => new JsonText(await segments.all(hiddenFrom(caller))));
