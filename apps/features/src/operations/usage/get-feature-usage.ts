import { implement, JsonText } from '@bunting/bus';
import { GetFeatureUsage } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

export const getFeatureUsageEndpoint = ({ usage }: FeaturesContext) =>
  implement(
    GetFeatureUsage,
    async ({ params, caller }) => new JsonText(await usage.lastHour(params.featureName, hiddenProjectsOf(caller))),
  );
