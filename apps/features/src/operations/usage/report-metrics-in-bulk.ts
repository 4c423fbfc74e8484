import { implement } from '@bunting/bus';
import { ReportMetricsInBulk } from '@bunting/contracts';
import { collectedApplications, collectedCounts } from '../../domain/usage.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

export const reportMetricsInBulkEndpoint = (work: UnitOfWork) =>
  implement(ReportMetricsInBulk, async (asked) => {
    const { body, caller, now } = asked;
    authorise(caller, ReportMetricsInBulk.permission, {});
    const counts = collectedCounts(body, caller, now);
    return keepReport(work, asked, { counts, applications: collectedApplications(body, caller) });
  });
