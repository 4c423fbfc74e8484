import { implement } from '@bunting/bus';
import { GetEnvironment } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import { tagged } from '../tagged.ts';
import type { FeaturesContext } from '../context.ts';
import { tokensOf } from './count-tokens.ts';

export const getEnvironmentEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(GetEnvironment, async (request) => {
    const tokens = await tokensOf(bus, request);
    return tagged(request, await environments.one(request.params.name, hiddenFrom(request.caller), tokens));
  });
