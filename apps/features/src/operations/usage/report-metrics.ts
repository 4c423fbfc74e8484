import { implement } from '@bunting/bus';
import { authorise, ReportMetrics } from '@bunting/contracts';
import { evaluationCounts } from '../../domain/usage/evaluation-counts.ts';
import { reportingApplication } from '../../domain/usage/reported-applications.ts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import type { FindEnvironmentOfReport } from '../../persistence/usage/find-environment-of-report.ts';
import type { StoreReport } from './store-report.ts';
import type { FeaturesContext } from '../context.ts';

/** The endpoint by which SDKs report metrics, on the server or, with the operation for frontends, in browsers and apps. */
export const metricsReportEndpoint = (
  operation: typeof ReportMetrics,
  storeReport: StoreReport,
  findEnvironmentOfReport: FindEnvironmentOfReport,
) =>
  implement(operation, async (request) => {
    const { body, caller, now } = request;
    const environment = await findEnvironmentOfReport(caller, body.environment);
    authorise(caller, operation.permission, { environment });
    if (environment === undefined) throw unknownEnvironment(body.environment ?? 'default', '/body/environment');
    const counts = evaluationCounts(body, environment, now);
    return storeReport(request, { counts, applications: [reportingApplication(body, environment, caller)] });
  });

export const reportMetricsEndpoint = ({ storeReport, findEnvironmentOfReport }: FeaturesContext) =>
  metricsReportEndpoint(ReportMetrics, storeReport, findEnvironmentOfReport);
