import { implement } from '@bunting/bus';
import { ReportMetricsInBulk } from '@bunting/contracts';
import { collectedApplications, collectedCounts } from '../../domain/usage.ts';
import { authorise } from '../authorise.ts';
import type { FeaturesContext } from '../context.ts';

export const reportMetricsInBulkEndpoint = ({ storeReport }: FeaturesContext) =>
  implement(ReportMetricsInBulk, async (request) => {
    const { body, caller, now } = request;
    authorise(caller, ReportMetricsInBulk.permission, {});
    const counts = collectedCounts(body, caller, now);
    return storeReport(request, { counts, applications: collectedApplications(body, caller) });
  });
