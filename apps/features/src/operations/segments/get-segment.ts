import { implement } from '@bunting/bus';
import { GetSegment } from '@bunting/contracts';
import { tagged } from '../reply-with-entity-tag.ts';
import { hiddenFrom } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getSegmentEndpoint = ({ segments }: FeaturesContext) =>
  implement(GetSegment, async (request) =>
    tagged(request, await segments.one(request.params.id, hiddenFrom(request.caller))),
  );
