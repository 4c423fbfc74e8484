import { implement, JsonText } from '@bunting/bus';
import { GetRawFeatureMetrics } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

const usualHoursBack = 24;

export const getRawFeatureMetricsEndpoint = ({ usage }: FeaturesContext) =>
  implement(
    GetRawFeatureMetrics,
    async ({ params, query, caller }) =>
      new JsonText(await usage.byHour(params.featureName, query.hoursBack ?? usualHoursBack, hiddenProjectsOf(caller))),
  );
