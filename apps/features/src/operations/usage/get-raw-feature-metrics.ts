import { implement, JsonText } from '@bunting/bus';
import { GetRawFeatureMetrics } from '@bunting/contracts';
import type { UsageReader } from '../../persistence/usage-reader.ts';
import { hiddenFrom } from '../seen-by.ts';

const usualHoursBack = 24;

export const getRawFeatureMetricsEndpoint = (usage: UsageReader) =>
  implement(
    GetRawFeatureMetrics,
    async ({ params, query, caller }) =>
      new JsonText(await usage.byHour(params.featureName, query.hoursBack ?? usualHoursBack, hiddenFrom(caller))),
  );
