import { implement } from '@bunting/bus';
import { GetSegment } from '@bunting/contracts';
import type { SegmentReader } from '../../persistence/segment-repository.ts';
import { tagged } from '../tagged.ts';
import { hiddenFrom } from '../seen-by.ts';

export const getSegmentEndpoint = (segments: SegmentReader) =>
  implement(GetSegment, async (asked) => tagged(asked, await segments.one(asked.params.id, hiddenFrom(asked.caller))));
