import { implement, JsonText } from '@bunting/bus';
import { GetFeatureUsage } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';

export const getFeatureUsageEndpoint = (usage: UsageReader) =>
  implement(GetFeatureUsage, async ({ params }) => new JsonText(await usage.lately(params.featureName)));
