import { implement } from '@bunting/bus';
import { GetEnvironment } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import { replyWithEntityTag } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';
import { loadTokenCounts } from './token-counts.ts';

export const getEnvironmentEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(GetEnvironment, async (request) => {
    const tokens = await loadTokenCounts(bus, request);
    return replyWithEntityTag(
      request,
      await environments.one(request.params.name, hiddenProjectsOf(request.caller), tokens),
    );
  });
