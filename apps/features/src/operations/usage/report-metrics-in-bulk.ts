import { implement } from '@bunting/bus';
import { ReportMetricsInBulk } from '@bunting/contracts';
import { collectedApplications, collectedCounts } from '../../domain/usage.ts';
import { authorise } from '../authorise.ts';
import type { FeaturesContext } from '../context.ts';

export const reportMetricsInBulkEndpoint = ({ keepReport: keep }: FeaturesContext) =>
  implement(ReportMetricsInBulk, async (asked) => {
    const { body, caller, now } = asked;
    authorise(caller, ReportMetricsInBulk.permission, {});
    const counts = collectedCounts(body, caller, now);
    return keep(asked, { counts, applications: collectedApplications(body, caller) });
  });
