import { implement } from '@bunting/bus';
import { authorise, ReportProxiedMetrics } from '@bunting/contracts';
import { proxiedCounts } from '../../domain/usage/evaluation-counts.ts';
import { proxiedApplications } from '../../domain/usage/reported-applications.ts';
import type { FeaturesContext } from '../context.ts';

export const reportProxiedMetricsEndpoint = ({ storeReport }: FeaturesContext) =>
  implement(ReportProxiedMetrics, async (request) => {
    const { body, caller, now } = request;
    authorise(caller, ReportProxiedMetrics.permission, {});
    const counts = proxiedCounts(body, caller, now);
    return storeReport(request, { counts, applications: proxiedApplications(body, caller) }, null);
  });
