import { implement, JsonText } from '@bunting/bus';
import { ListEnvironments } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';
import { tokensOf } from './count-tokens.ts';

export const listEnvironmentsEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(ListEnvironments, async (asked) => {
    const tokens = await tokensOf(bus, asked);
    return new JsonText(await environments.all(hiddenFrom(asked.caller), tokens));
  });
