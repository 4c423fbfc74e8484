import { implement } from '@bunting/bus';
import { GetEnvironment } from '@bunting/contracts';
import { hiddenFrom } from '../visibility.ts';
import { tagged } from '../reply-with-entity-tag.ts';
import type { FeaturesContext } from '../context.ts';
import { tokensOf } from './token-counts.ts';

export const getEnvironmentEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(GetEnvironment, async (request) => {
    const tokens = await tokensOf(bus, request);
    return tagged(request, await environments.one(request.params.name, hiddenFrom(request.caller), tokens));
  });
