import { implement, type OperationRequest } from '@bunting/bus';
import { authorise, type ReportFrontendMetrics, ReportMetrics } from '@bunting/contracts';
import { evaluationCounts } from '../../domain/usage/evaluation-counts.ts';
import { reportingApplication } from '../../domain/usage/reported-applications.ts';
import { unknownEnvironment } from '../../domain/refusals.ts';
import type { FeaturesContext } from '../context.ts';

/** Stores the metrics that an SDK reports, on the server or in browsers and apps. */
export const storeMetrics = async <R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof ReportMetrics | typeof ReportFrontendMetrics,
  request: OperationRequest<typeof ReportMetrics>,
  reply: R,
): Promise<R> => {
  const { body, caller, now } = request;
  const environment = await findEnvironmentOfReport(caller, body.environment);
  authorise(caller, permission, { environment });
  if (environment === undefined) throw unknownEnvironment(body.environment ?? 'default', '/body/environment');
  const counts = evaluationCounts(body, environment, now);
  return storeReport(request, { counts, applications: [reportingApplication(body, environment, caller)] }, reply);
};

export const reportMetricsEndpoint = (context: FeaturesContext) =>
  implement(ReportMetrics, (request) => storeMetrics(context, ReportMetrics, request, null));
