import { implement } from '@bunting/bus';
import { ReportProxiedMetrics } from '@bunting/contracts';
import { proxiedApplications, proxiedCounts } from '../../domain/usage/metrics.ts';
import { authorise } from '../authorise.ts';
import type { FeaturesContext } from '../context.ts';

export const reportProxiedMetricsEndpoint = ({ storeReport }: FeaturesContext) =>
  implement(ReportProxiedMetrics, async (request) => {
    const { body, caller, now } = request;
    authorise(caller, ReportProxiedMetrics.permission, {});
    const counts = proxiedCounts(body, caller, now);
    return storeReport(request, { counts, applications: proxiedApplications(body, caller) });
  });
