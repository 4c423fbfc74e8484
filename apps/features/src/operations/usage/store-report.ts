import { type Caller, systemCaller } from '@bunting/contracts';
import type { DomainEvent, LifecycleStage } from '../../domain/feature.ts';
import {
  isPublicKey,
  type MissingFeature,
  roomFor,
  type SeenApplication,
  unlistedApplication,
} from '../../domain/applications.ts';
import { type Count, mayReportOn, type ReportedFeature, stagesToEnter } from '../../domain/usage.ts';
import type { AnnouncedApplication } from '../../persistence/usage/application-repository.ts';
import type { TransactionContext, UnitOfWork, Transaction } from '../../persistence/unit-of-work.ts';

/** The maximum number of missing features that one report adds. */
const missingAtOnce = 1_000;

/** The counts and applications of one request. */
export interface Report {
  readonly counts: readonly Count[];
  readonly applications: readonly SeenApplication[];
}

const unique = (values: readonly string[]): string[] => [...new Set(values)];

const environmentsByFeature = (counts: readonly Count[]): Map<string, Set<string>> => {
  const found = new Map<string, Set<string>>();
  for (const { feature, environment } of counts) {
    const environments = found.get(feature);
    if (environments === undefined) found.set(feature, new Set([environment]));
    else environments.add(environment);
  }
  return found;
};

/** The features that applications evaluated but that do not exist, or are outside of the projects of their key. */
const missingIn = (counts: readonly Count[], known: ReadonlySet<string>): readonly MissingFeature[] => {
  const found = new Map<string, MissingFeature>();
  for (const { appName, environment, feature } of counts) {
    if (known.has(feature) || appName === unlistedApplication) continue;
    found.set(JSON.stringify([appName, environment, feature]), { appName, environment, feature });
  }
  return [...found.values()].slice(0, missingAtOnce);
};

/**
 * Adds the counts of features that exist and are in the reporter's projects, and moves those features to their next lifecycle stages.
 * Returns the other features.
 */
const addCounts = async (
  { usage }: Transaction,
  given: readonly Count[],
  reporter: Caller,
  now: Date,
): Promise<readonly MissingFeature[]> => {
  if (given.length === 0) return [];
  const environmentTypes = await usage.environmentTypes();
  const counted = given.filter(({ environment }) => environmentTypes.has(environment));
  const environments = unique(counted.map(({ environment }) => environment));
  const names = unique(counted.map(({ feature }) => feature));
  const found = (await usage.findReported(names, environments)).filter(({ project }) => mayReportOn(reporter, project));
  const known = new Set(found.map(({ name }) => name));
  const counts = counted.filter(({ feature }) => known.has(feature));
  const missing = missingIn(counted, known);
  if (counts.length === 0) return missing;

  const reportedIn = environmentsByFeature(counts);
  const stagesOf = (feature: ReportedFeature): LifecycleStage[] =>
    stagesToEnter(feature, [...(reportedIn.get(feature.name) ?? [])], environmentTypes, now.toISOString());
  const moving = found.filter((feature) => stagesOf(feature).length > 0).map(({ name }) => name);
  // Decided again under the lock: a concurrent report may have moved them.
  const locked = moving.length === 0 ? [] : await usage.findReportedForUpdate(moving, environments);

  const due = await usage.addByMinute(counts, now);
  await usage.addByHour(counts, now);
  const moves = new Map(locked.map((feature) => [feature.name, stagesOf(feature)]));
  const told = unique([...due, ...moves.keys()]).map((name) => ({ name, stages: moves.get(name) ?? [] }));
  await usage.emitStates(told);
  return missing;
};

/** The counts of a report, those of unlisted applications without their names. */
const withListed = (counts: readonly Count[], listed: ReadonlySet<string>): readonly Count[] =>
  counts.map((count) => (listed.has(count.appName) ? count : { ...count, appName: unlistedApplication }));

/** The event for a new application. */
const created = (application: AnnouncedApplication, seen: readonly SeenApplication[], now: Date): DomainEvent => {
  const environments = new Map<string, Set<string>>();
  for (const { appName, projects, environment } of seen) {
    if (appName !== application.appName) continue;
    for (const project of projects)
      environments.set(project, (environments.get(project) ?? new Set()).add(environment));
  }
  const usage = [...environments].map(([project, names]) => ({ project, environments: [...names].toSorted() }));
  return { type: 'application-created', data: { ...application, lastSeenAt: now.toISOString(), usage } };
};

/** The limits of the list of applications. */
export interface ApplicationLimits {
  /** the maximum length of the list of applications */
  readonly limit: number;
  /** takes up to `wanted` new applications from the budget of a key in this minute, and returns how many it grants */
  readonly takeFromBudget: (key: string, wanted: number, now: Date) => number;
  /** called for applications that are not listed */
  readonly onUnlisted: (reason: 'limit' | 'rate', applications: number) => void;
}

/** The applications of a report that are listed or admitted to the list, and those of them that must be written. */
const listing = async (
  { applications: repository }: Transaction,
  seen: readonly SeenApplication[],
  { caller, now }: TransactionContext,
  { limit, takeFromBudget: budget, onUnlisted: unlisted }: ApplicationLimits,
): Promise<{ readonly listed: ReadonlySet<string>; readonly stale: readonly SeenApplication[] }> => {
  const reported = await repository.findReported(seen, now);
  const nameOf = ({ nth }: { nth: number }): string => seen[nth]?.appName ?? '';
  const listed = new Set(reported.filter(({ isKnown }) => isKnown).map(nameOf));
  const unknown = unique(reported.filter(({ isKnown }) => !isKnown).map(nameOf));
  const granted = unknown.length === 0 ? 0 : budget(caller.tokenId ?? String(caller.id), unknown.length, now);
  if (granted > 0 || reported.some(({ isKnown, isAnnounced }) => isKnown && !isAnnounced)) {
    const counts = await repository.lockAndCount();
    const admitted = unknown.slice(0, Math.min(granted, roomFor(counts, limit, isPublicKey(caller))));
    for (const name of admitted) listed.add(name);
    if (admitted.length < granted) unlisted('limit', granted - admitted.length);
  }
  if (granted < unknown.length) unlisted('rate', unknown.length - granted);
  const isFresh = new Set(reported.filter((one) => one.isFresh).map(({ nth }) => nth));
  return { listed, stale: seen.filter(({ appName }, nth) => listed.has(appName) && !isFresh.has(nth)) };
};

/** Stores a report; the reply is sent after the commit. */
export type StoreReport = (request: TransactionContext, report: Report) => Promise<null>;

/**
 * Stores reports. The state of a feature is emitted when it enters a lifecycle stage, and otherwise about once a minute. The actor of
 * events about applications is the system. Applications beyond the limits are not listed; their counts are stored without their names.
 */
export const storeReports =
  (transaction: UnitOfWork, limits: ApplicationLimits): StoreReport =>
  (request, { counts, applications }) =>
    transaction({ ...request, caller: systemCaller }, async (tx) => {
      const { listed, stale } = await listing(tx, applications, request, limits);
      const missing = await addCounts(tx, withListed(counts, listed), request.caller, request.now);
      const isPublic = isPublicKey(request.caller);
      const announced = await tx.applications.recordSeen(stale, isPublic ? [] : missing, request.now);
      tx.events.record(announced.map((application) => created(application, stale, request.now)));
      return null;
    });
