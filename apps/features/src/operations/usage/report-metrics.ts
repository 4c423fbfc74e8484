import { implement } from '@bunting/bus';
import { ReportFrontendMetrics, ReportMetrics } from '@bunting/contracts';
import { environmentFor, projectsOf } from '../../domain/application-token.ts';
import { countsOf, noSuchReportingEnvironment } from '../../domain/usage.ts';
import type { UsageReader } from '../../persistence/usage-reader.ts';
import type { UnitOfWork } from '../../persistence/unit-of-work.ts';
import { authorise } from '../authorise.ts';
import { keepReport } from './report.ts';

const reporting = (operation: typeof ReportMetrics, work: UnitOfWork, usage: UsageReader) =>
  implement(operation, async (asked) => {
    const { body, caller, now } = asked;
    const environment = environmentFor(caller, body.environment);
    authorise(caller, operation.permission, { environment });
    const counts = countsOf(body, environment, now);
    if (!(await usage.hasEnvironment(environment))) throw noSuchReportingEnvironment(environment);
    const application = { appName: body.appName, projects: projectsOf(caller), environment };
    const { sdkVersion } = body;
    return keepReport(work, asked, {
      counts,
      applications: [sdkVersion === undefined ? application : { ...application, sdkVersion }],
    });
  });

export const reportMetricsEndpoint = (work: UnitOfWork, usage: UsageReader) => reporting(ReportMetrics, work, usage);

/** The same, of browsers and apps. */
export const reportFrontendMetricsEndpoint = (work: UnitOfWork, usage: UsageReader) =>
  reporting(ReportFrontendMetrics, work, usage);
