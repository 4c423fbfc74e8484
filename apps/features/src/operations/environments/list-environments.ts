import { implement, JsonText } from '@bunting/bus';
import { ListEnvironments } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';
import { loadTokenCounts } from './token-counts.ts';

export const listEnvironmentsEndpoint = ({ environments, bus }: FeaturesContext) =>
  implement(ListEnvironments, async (request) => {
    const tokens = await loadTokenCounts(bus, request);
    return new JsonText(await environments.all(hiddenProjectsOf(request.caller), tokens));
  });
