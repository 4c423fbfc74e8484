import { type Caller, systemCaller } from '@bunting/contracts';
import type { DomainEvent, LifecycleStage } from '../../domain/features/feature.ts';
import {
  isPublicKey,
  type MissingFeature,
  availableSlots,
  type ReportedApplicationInstance,
  unlistedApplication,
} from '../../domain/usage/applications.ts';
import { type EvaluationCount, mayReportOn, type ReportedFeature, stagesToEnter } from '../../domain/usage/metrics.ts';
import type { AnnouncedApplication } from '../../persistence/usage/application-repository.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../../persistence/unit-of-work.ts';
import type { ApplicationLimits } from './application-limits.ts';

/** The maximum number of missing features that one report adds. */
const maxMissingPerReport = 1_000;

/** The counts and applications of one request. */
export interface Report {
  readonly counts: readonly EvaluationCount[];
  readonly applications: readonly ReportedApplicationInstance[];
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

const environmentsByFeature = (counts: readonly EvaluationCount[]): Map<string, Set<string>> => {
  const byFeature = new Map<string, Set<string>>();
  for (const { feature, environment } of counts) {
    const environments = byFeature.get(feature);
    if (environments === undefined) byFeature.set(feature, new Set([environment]));
    else environments.add(environment);
  }
  return byFeature;
};

/** The features that applications evaluated but that do not exist, or are outside of the projects of their key. */
const missingIn = (counts: readonly EvaluationCount[], existing: ReadonlySet<string>): readonly MissingFeature[] => {
  const found = new Map<string, MissingFeature>();
  for (const { appName, environment, feature } of counts) {
    if (existing.has(feature) || appName === unlistedApplication) continue;
    found.set(JSON.stringify([appName, environment, feature]), { appName, environment, feature });
  }
  return [...found.values()].slice(0, maxMissingPerReport);
};

/**
 * Adds the counts of features that exist and are in the reporter's projects, and moves those features to their next lifecycle stages.
 * Returns the other features.
 */
const addCounts = async (
  { usage }: Transaction,
  reported: readonly EvaluationCount[],
  reporter: Caller,
  now: Date,
): Promise<readonly MissingFeature[]> => {
  if (reported.length === 0) return [];
  const environmentTypes = await usage.environmentTypes();
  const counted = reported.filter(({ environment }) => environmentTypes.has(environment));
  const environments = unique(counted.map(({ environment }) => environment));
  const names = unique(counted.map(({ feature }) => feature));
  const found = (await usage.findReported(names, environments)).filter(({ project }) => mayReportOn(reporter, project));
  const existing = new Set(found.map(({ name }) => name));
  const counts = counted.filter(({ feature }) => existing.has(feature));
  const missing = missingIn(counted, existing);
  if (counts.length === 0) return missing;

  const reportedIn = environmentsByFeature(counts);
  const stagesOf = (feature: ReportedFeature): LifecycleStage[] =>
    stagesToEnter(feature, [...(reportedIn.get(feature.name) ?? [])], environmentTypes, now.toISOString());
  const progressing = found.filter((feature) => stagesOf(feature).length > 0).map(({ name }) => name);
  // The decision is repeated under the lock: a concurrent report may have moved them.
  const locked = progressing.length === 0 ? [] : await usage.findReportedForUpdate(progressing, environments);

  const due = await usage.addByMinute(counts, now);
  await usage.addByHour(counts, now);
  const stagesByName = new Map(locked.map((feature) => [feature.name, stagesOf(feature)]));
  const emitted = unique([...due, ...stagesByName.keys()]).map((name) => ({
    name,
    stages: stagesByName.get(name) ?? [],
  }));
  await usage.emitStates(emitted);
  return missing;
};

/** The counts of a report, those of unlisted applications without their names. */
const withListed = (counts: readonly EvaluationCount[], listed: ReadonlySet<string>): readonly EvaluationCount[] =>
  counts.map((count) => (listed.has(count.appName) ? count : { ...count, appName: unlistedApplication }));

/** The event for a new application. */
const createdEvent = (
  application: AnnouncedApplication,
  seen: readonly ReportedApplicationInstance[],
  now: Date,
): DomainEvent => {
  const environments = new Map<string, Set<string>>();
  for (const { appName, projects, environment } of seen) {
    if (appName !== application.appName) continue;
    for (const project of projects)
      environments.set(project, (environments.get(project) ?? new Set()).add(environment));
  }
  const usage = [...environments].map(([project, names]) => ({ project, environments: [...names].toSorted() }));
  return { type: 'application-created', data: { ...application, lastSeenAt: now.toISOString(), usage } };
};

/** The new applications of a report that the budget of its key allows. */
type Grant = (names: readonly string[]) => readonly string[];

/** Takes each new application of a request from the budget of its key once, however often the transaction is retried. */
const grantOnce = ({ caller, now }: TransactionContext, { takeFromBudget }: ApplicationLimits): Grant => {
  const granted = new Map<string, boolean>();
  return (names) => {
    const fresh = names.filter((name) => !granted.has(name));
    const count = fresh.length === 0 ? 0 : takeFromBudget(caller.tokenId ?? String(caller.id), fresh.length, now);
    for (const [nth, name] of fresh.entries()) granted.set(name, nth < count);
    return names.filter((name) => granted.get(name));
  };
};

/** The applications of a report that are listed or admitted to the list, those of them that must be written, and how many were not admitted. */
interface Admission {
  readonly listed: ReadonlySet<string>;
  readonly toWrite: readonly ReportedApplicationInstance[];
  readonly unlisted: { readonly limit: number; readonly rate: number };
}

const admit = async (
  { applications }: Transaction,
  seen: readonly ReportedApplicationInstance[],
  { caller, now }: TransactionContext,
  limit: number,
  grant: Grant,
): Promise<Admission> => {
  const reported = await applications.findReported(seen, now);
  const nameOf = ({ nth }: { nth: number }): string => seen[nth]?.appName ?? '';
  const listed = new Set(reported.filter(({ isKnown }) => isKnown).map(nameOf));
  const unknown = unique(reported.filter(({ isKnown }) => !isKnown).map(nameOf));
  const granted = grant(unknown);
  let unlistedByLimit = 0;
  if (granted.length > 0 || reported.some(({ isKnown, needsNoCreatedEvent }) => isKnown && !needsNoCreatedEvent)) {
    const counts = await applications.lockAndCount();
    const admitted = granted.slice(0, availableSlots(counts, limit, isPublicKey(caller)));
    for (const name of admitted) listed.add(name);
    unlistedByLimit = granted.length - admitted.length;
  }
  const unlisted = { limit: unlistedByLimit, rate: unknown.length - granted.length };
  const unchanged = new Set(reported.filter((one) => one.needsNoWrite).map(({ nth }) => nth));
  return { listed, toWrite: seen.filter(({ appName }, nth) => listed.has(appName) && !unchanged.has(nth)), unlisted };
};

/** Stores a report; the reply is sent after the commit. */
export type StoreReport = (request: TransactionContext, report: Report) => Promise<null>;

/**
 * Stores reports. The state of a feature is emitted when it enters a lifecycle stage, and otherwise about once a minute. The actor of
 * events about applications is the system. Applications beyond the limits are not listed; their counts are stored without their names.
 */
export const storeReports =
  (transaction: UnitOfWork, limits: ApplicationLimits): StoreReport =>
  async (request, { counts, applications }) => {
    const grant = grantOnce(request, limits);
    let unlisted: Admission['unlisted'] = { limit: 0, rate: 0 };
    await transaction({ ...request, caller: systemCaller }, async (tx) => {
      const admission = await admit(tx, applications, request, limits.limit, grant);
      const { listed, toWrite } = admission;
      unlisted = admission.unlisted;
      const missing = await addCounts(tx, withListed(counts, listed), request.caller, request.now);
      const isPublic = isPublicKey(request.caller);
      const announced = await tx.applications.recordSeen(toWrite, isPublic ? [] : missing, request.now);
      tx.events.emit(announced.map((application) => createdEvent(application, toWrite, request.now)));
      return null;
    });
    for (const reason of ['limit', 'rate'] as const) {
      if (unlisted[reason] > 0) limits.onUnlisted(reason, unlisted[reason]);
    }
    return null;
  };
