import { implement } from '@bunting/bus';
import { GetSegment } from '@bunting/contracts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getSegmentEndpoint = ({ segments }: FeaturesContext) =>
  implement(GetSegment, async (request) =>
    replyWithEntityTag(request, await segments.one(request.params.id, hiddenProjectsOf(request.caller))),
  );
