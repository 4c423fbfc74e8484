import { implement, JsonText } from '@bunting/bus';
import { GetFeatureUsage } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

export const getFeatureUsageEndpoint = (usage: UsageReader) =>
  implement(
    GetFeatureUsage,
    async ({ params, caller }) => new JsonText(await usage.lately(params.featureName, hiddenFrom(caller))),
  );
