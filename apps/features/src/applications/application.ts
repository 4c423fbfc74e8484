import {
  anyScope,
  boundEnvironment,
  type BulkMetricsBody,
  type Caller,
  grantedProjects,
  limitExceeded,
  may,
  type MetricsBody,
  type RegisterApplicationBody,
} from '@bunting/contracts';
import type { DomainEvent } from '../features/feature.ts';

/** A description of an application by a user; omitted properties stay unchanged. */
export interface ApplicationDescription {
  readonly appName: string;
  readonly description?: string | null | undefined;
  readonly url?: string | null | undefined;
  readonly color?: string | null | undefined;
  readonly icon?: string | null | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
  readonly createdBy: string;
}

/** Describes an application. One that is not in the list is added to it, up to the limit. Returns the events. */
export function describeApplication(
  application: ApplicationDescription,
  { isKnown, all }: Pick<ApplicationCounts, 'all'> & { readonly isKnown: boolean },
  limit: number,
): readonly DomainEvent[] {
  if (isKnown) return [];
  if (all >= limit) throw limitExceeded('application', limit);
  return [{ type: 'application-created', data: application }];
}

/** The properties of an application in a registration or report. */
export interface ReportedApplicationInstance {
  readonly appName: string;
  readonly sdkVersion?: string | null;
  readonly strategies?: readonly string[];
  /** the projects of the token, `*` for all */
  readonly projects: readonly string[];
  readonly environment: string;
  /** undefined for browsers and apps, whose instances are not distinguished */
  readonly instanceId?: string;
  /** whether the token is a frontend token, which is public */
  readonly isFrontend: boolean;
  /** the name of the token */
  readonly createdBy: string;
}

/** A flag that an application evaluated, and that does not exist in the projects of its token. */
export interface MissingFeature {
  readonly appName: string;
  readonly environment: string;
  readonly feature: string;
}

/** An application of a report as it is found in the list: whether the report has to change anything there. */
export interface ApplicationLookup {
  /** the index of the application in the report */
  readonly index: number;
  /** whether the application is in the list */
  readonly isKnown: boolean;
  /** whether this report need not emit `application-created` */
  readonly needsNoCreatedEvent: boolean;
  /** whether nothing has to be written */
  readonly needsNoWrite: boolean;
}

/** An application whose creation is emitted as an event. */
export interface AnnouncedApplication {
  readonly appName: string;
  readonly sdkVersion: string | null;
  readonly strategies: readonly string[];
  readonly createdAt: string;
}

/** How many applications there are, and how many of them only frontend tokens have reported. */
export interface ApplicationCounts {
  readonly all: number;
  readonly frontend: number;
}

/** Frontend tokens are public, so the limit of applications that are registered only with them is a tenth of the list. */
const frontendShare = 10;

/** The name under which metrics of unlisted applications are stored. */
export const unlistedApplication = '(not listed)';

/** Whether a token is public: it can only be used by frontends. */
export function isFrontendTokenCaller(caller: Caller): boolean {
  return !may(caller, ['CLIENT'], anyScope);
}

/** The number of applications that can still be added to the list. */
export function availableSlots({ all, frontend }: ApplicationCounts, limit: number, isFrontend: boolean): number {
  const free = Math.max(0, limit - all);
  return isFrontend ? Math.max(0, Math.min(free, Math.ceil(limit / frontendShare) - frontend)) : free;
}

function nameOf(reported: readonly ReportedApplicationInstance[], { index }: ApplicationLookup): string {
  const application = reported[index];
  if (application === undefined) throw new Error(`The report has no application ${index}.`);
  return application.appName;
}

/** The names of the reported applications that are not in the list, each once. */
export function unknownApplications(
  reported: readonly ReportedApplicationInstance[],
  stored: readonly ApplicationLookup[],
): string[] {
  return [...new Set(stored.filter(({ isKnown }) => !isKnown).map((lookup) => nameOf(reported, lookup)))];
}

/** Whether the report may add an application, or emit `application-created` for one that only frontend tokens have reported. */
export function mayAnnounce(granted: readonly string[], stored: readonly ApplicationLookup[]): boolean {
  return granted.length > 0 || stored.some(({ isKnown, needsNoCreatedEvent }) => isKnown && !needsNoCreatedEvent);
}

/**
 * The applications of a report that are listed or admitted to the list, those of them that must be written, and how many were not admitted.
 */
export interface Admission {
  readonly listed: ReadonlySet<string>;
  readonly toWrite: readonly ReportedApplicationInstance[];
  /** the numbers of new applications that exceed the limit of the list, and the budget of the token in a minute */
  readonly unlisted: { readonly limit: number; readonly rate: number };
}

/**
 * Admits applications of a report to the list.
 * @param unknown the names of the applications that are not in the list
 * @param granted the unknown ones that the budget of the token allows
 * @param slots the number of applications that can still be added to the list
 */
export function admitApplications(
  reported: readonly ReportedApplicationInstance[],
  stored: readonly ApplicationLookup[],
  {
    unknown,
    granted,
    slots,
  }: { readonly unknown: readonly string[]; readonly granted: readonly string[]; readonly slots: number },
): Admission {
  const admitted = granted.slice(0, slots);
  const known = stored.filter(({ isKnown }) => isKnown).map((lookup) => nameOf(reported, lookup));
  const listed = new Set([...known, ...admitted]);
  const unchanged = new Set(stored.filter(({ needsNoWrite }) => needsNoWrite).map(({ index }) => index));
  return {
    listed,
    toWrite: reported.filter(({ appName }, index) => listed.has(appName) && !unchanged.has(index)),
    unlisted: {
      limit: granted.length - admitted.length,
      rate: unknown.length - granted.length,
    },
  };
}

/** The event of an application that a report adds. @param reported the instances in the report */
export function announceApplication(
  application: AnnouncedApplication,
  reported: readonly ReportedApplicationInstance[],
  now: string,
): DomainEvent {
  const environments = new Map<string, Set<string>>();
  for (const { appName, projects, environment } of reported) {
    if (appName !== application.appName) continue;
    for (const project of projects)
      environments.set(project, (environments.get(project) ?? new Set()).add(environment));
  }
  const usage = [...environments].map(([project, names]) => ({ project, environments: [...names].toSorted() }));
  return { type: 'application-created', data: { ...application, lastSeenAt: now, usage } };
}

/** The environment of an application: that of its token, or else the environment that the request names, or else `default`. */
export function effectiveEnvironment(caller: Caller, named: string | undefined): string {
  return boundEnvironment(caller) ?? named ?? 'default';
}

/** The maximum number of names of strategies that are stored of one application. */
const maxStrategies = 200;

interface ApplicationReport {
  readonly appName: string;
  readonly instanceId?: string | undefined;
  readonly sdkVersion?: string | null | undefined;
  readonly strategies?: readonly string[] | undefined;
}

/** The application of a report, with the scope of its token. With a public token, instances and strategies are not recorded. */
function applicationReport(
  { appName, instanceId, sdkVersion, strategies }: ApplicationReport,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance {
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
}

/** The properties of a registration; the projects are those of the token. */
export function registeredApplication(
  body: RegisterApplicationBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance {
  return applicationReport({ ...body, sdkVersion: body.sdkVersion ?? null }, environment, caller);
}

/** The properties of the application that sends metrics. */
export function reportingApplication(
  body: MetricsBody,
  environment: string,
  caller: Caller,
): ReportedApplicationInstance {
  return applicationReport(body, environment, caller);
}

/** Whether an application can have a name that a proxy reports. */
export function isApplicationName(name: string): boolean {
  return name !== '' && name.length <= 255;
}

/** The applications that a proxy reports, each instance once. */
export function proxiedApplications(body: BulkMetricsBody, caller: Caller): ReportedApplicationInstance[] {
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
  const sdkVersions = new Map(
    body.metrics.flatMap(({ appName, environment, sdkVersion }) =>
      sdkVersion === undefined ? [] : [[keyOf(appName, environment), sdkVersion]],
    ),
  );
  for (const { appName, environment } of body.metrics) {
    const key = keyOf(appName, environment);
    if (reportedNames.has(key) || !isApplicationName(appName) || !may(caller, ['CLIENT'], { environment })) continue;
    reportedNames.add(key);
    const { instanceId: _, ...application } = applicationReport(
      { appName, sdkVersion: sdkVersions.get(key) },
      environment,
      caller,
    );
    applications.set(key, application);
  }
  return [...applications.values()];
}
