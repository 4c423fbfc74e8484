import { implement } from '@bunting/bus';
import { ReportMetricsInBulk } from '@bunting/contracts';
import { proxiedApplications, proxiedCounts } from '../../domain/usage/metrics.ts';
import { authorise } from '../authorise.ts';
import type { FeaturesContext } from '../context.ts';

export const reportMetricsInBulkEndpoint = ({ storeReport }: FeaturesContext) =>
  implement(ReportMetricsInBulk, async (request) => {
    const { body, caller, now } = request;
    authorise(caller, ReportMetricsInBulk.permission, {});
    const counts = proxiedCounts(body, caller, now);
    return storeReport(request, { counts, applications: proxiedApplications(body, caller) });
  });
