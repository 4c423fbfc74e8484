import { implement } from '@bunting/bus';
import { GetSegment } from '@bunting/contracts';
import { tagged } from '../tagged.ts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const getSegmentEndpoint = ({ segments }: FeaturesContext) =>
  implement(GetSegment, async (request) =>
    tagged(request, await segments.one(request.params.id, hiddenFrom(request.caller))),
  );
