import { implement, JsonText } from '@bunting/bus';
import { GetRawFeatureMetrics } from '@bunting/contracts';
import { hiddenProjectsOf } from '../visibility.ts';
import type { FeaturesContext } from '../context.ts';

const defaultHoursBack = 24;

export const getRawFeatureMetricsEndpoint = ({ usage }: FeaturesContext) =>
  implement(
    GetRawFeatureMetrics,
    async ({ params, query, caller }) =>
      new JsonText(
        await usage.byHour(params.featureName, query.hoursBack ?? defaultHoursBack, hiddenProjectsOf(caller)),
      ),
  );
