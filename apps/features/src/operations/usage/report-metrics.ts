import { implement } from '@bunting/bus';
import { ReportMetrics } from '@bunting/contracts';
import { countsOf, noSuchReportingEnvironment, reportingApplication } from '../../domain/usage.ts';
import type { ApplicationEnvironments } from '../../persistence/application-environments.ts';
import { authorise } from '../authorise.ts';
import type { KeepReport } from './report.ts';
import type { FeaturesContext } from '../context.ts';

export const reporting = (operation: typeof ReportMetrics, keep: KeepReport, environments: ApplicationEnvironments) =>
  implement(operation, async (request) => {
    const { body, caller, now } = request;
    const environment = await environments(caller, body.environment);
    authorise(caller, operation.permission, { environment });
    if (environment === undefined) throw noSuchReportingEnvironment(body.environment ?? 'default');
    const counts = countsOf(body, environment, now);
    return keep(request, { counts, applications: [reportingApplication(body, environment, caller)] });
  });

export const reportMetricsEndpoint = ({ keepReport: keep, applicationEnvironments: environments }: FeaturesContext) =>
  reporting(ReportMetrics, keep, environments);
