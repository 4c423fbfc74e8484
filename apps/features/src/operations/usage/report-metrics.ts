import { implement } from '@bunting/bus';
import { ReportFrontendMetrics, ReportMetrics } from '@bunting/contracts';
import { projectsOf } from '../../domain/application-token.ts';
import { countsOf, noSuchReportingEnvironment } from '../../domain/usage.ts';
import type { ApplicationEnvironments } from '../../persistence/application-environments.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

const reporting = (operation: typeof ReportMetrics, work: UnitOfWork, environments: ApplicationEnvironments) =>
  implement(operation, async (asked) => {
    const { body, caller, now } = asked;
    const environment = await environments(caller, body.environment);
    authorise(caller, operation.permission, { environment });
    if (environment === undefined) throw noSuchReportingEnvironment(body.environment ?? 'default');
    const counts = countsOf(body, environment, now);
    const application = { appName: body.appName, projects: projectsOf(caller), environment };
    const { sdkVersion } = body;
    return keepReport(work, asked, {
      counts,
      applications: [sdkVersion === undefined ? application : { ...application, sdkVersion }],
    });
  });

export const reportMetricsEndpoint = (work: UnitOfWork, environments: ApplicationEnvironments) =>
  reporting(ReportMetrics, work, environments);

/** The same, of browsers and apps. */
export const reportFrontendMetricsEndpoint = (work: UnitOfWork, environments: ApplicationEnvironments) =>
  reporting(ReportFrontendMetrics, work, environments);
