import { implement, JsonText } from '@bunting/bus';
import { GetFeatureUsage } from '@bunting/contracts';
import { hiddenFrom } from '../seen-by.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureUsageEndpoint = ({ usage }: FeaturesContext) =>
  implement(
    GetFeatureUsage,
    async ({ params, caller }) => new JsonText(await usage.lately(params.featureName, hiddenFrom(caller))),
  );
