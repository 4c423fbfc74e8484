import { implement, JsonText } from '@bunting/bus';
import { ListEnvironments } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';
import { tokensOf } from './count-tokens.ts';

export const listEnvironmentsEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(ListEnvironments, async (request) => {
    const tokens = await tokensOf(bus, request);
    return new JsonText(await environments.all(hiddenFrom(request.caller), tokens));
  });
