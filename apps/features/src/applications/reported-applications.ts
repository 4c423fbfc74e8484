import {
  type BulkMetricsBody,
  type Caller,
  may,
  type MetricsBody,
  type RegisterApplicationBody,
  grantedProjects,
} from '@bunting/contracts';
import { effectiveEnvironment } from './effective-environment.ts';
import { isFrontendTokenCaller, type ReportedApplicationInstance } from './admit-applications.ts';

/** The maximum number of names of strategies that are stored of one application. */
const maxStrategies = 200;

interface ApplicationReport {
  readonly appName: string;
  readonly instanceId?: string | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
}

/** The application of a report, with the scope of its token. With a public token, instances and strategies are not recorded. */
const applicationReport = (
  { appName, instanceId, sdkVersion, strategies }: ApplicationReport,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance => {
  const isFrontend = isFrontendTokenCaller(caller);
  return {
    appName,
    environment,
    projects: grantedProjects(caller),
    isFrontend,
    createdBy: caller.name,
    ...(sdkVersion === undefined ? {} : { sdkVersion }),
    ...(strategies === undefined || isFrontend ? {} : { strategies: strategies.slice(0, maxStrategies) }),
    ...(isFrontend ? {} : { instanceId: instanceId || 'default' }),
  };
};

/** The properties of a registration; the projects are those of the token. */
export const registeredApplication = (
  body: RegisterApplicationBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance =>
  applicationReport({ ...body, sdkVersion: body.sdkVersion ?? null }, environment, caller);

/** The properties of the application that sends metrics. */
export const reportingApplication = (
  body: MetricsBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance => applicationReport(body, environment, caller);

/** Whether an application can have a name that a proxy reports. */
export const isApplicationName = (name: string): boolean => name !== '' && name.length <= 255;

/** The applications that a proxy reports, each instance once. */
export const proxiedApplications = (body: BulkMetricsBody, caller: Caller): ReportedApplicationInstance[] => {
  const applications = new Map<string, ReportedApplicationInstance>();
  const reportedNames = new Set<string>();
  const keyOf = (appName: string, environment: string): string => JSON.stringify([appName, environment]);
  for (const application of body.applications) {
    if (!isApplicationName(application.appName)) continue;
    const environment = effectiveEnvironment(caller, application.environment);
    const name = keyOf(application.appName, environment);
    const key = JSON.stringify([name, application.instanceId]);
    if (!applications.has(key)) applications.set(key, applicationReport(application, environment, caller));
    reportedNames.add(name);
  }
  for (const { appName, environment } of body.metrics) {
    const key = keyOf(appName, environment);
    if (reportedNames.has(key) || !isApplicationName(appName) || !may(caller, ['CLIENT'], { environment })) continue;
    reportedNames.add(key);
    const { instanceId: _, ...application } = applicationReport({ appName }, environment, caller);
    applications.set(key, application);
  }
  return [...applications.values()];
};
