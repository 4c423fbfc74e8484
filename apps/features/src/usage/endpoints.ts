import { type Endpoint, implement, type OperationRequest, reads } from '@bunting/bus';
import {
  authorise,
  type Caller,
  GetFeatureUsage,
  GetRawFeatureMetrics,
  GetRecentUsage,
  GetUsageHistory,
  keptEdgeReport,
  ListEdgeInstances,
  RegisterApplication,
  RegisterFrontendApplication,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
  systemCaller,
} from '@bunting/contracts';
import type { Log } from '@bunting/runtime';
import { Counter, type Registry } from 'prom-client';
import {
  type Admission,
  admitApplications,
  announceApplication,
  availableSlots,
  effectiveEnvironment,
  isFrontendTokenCaller,
  mayAnnounce,
  type MissingFeature,
  proxiedApplications,
  registeredApplication,
  type ReportedApplicationInstance,
  reportingApplication,
  unknownApplications,
} from '../applications/application.ts';
import { type FeaturesContext, hiddenProjectsOf } from '../context.ts';
import { unknownEnvironment } from '../refusals.ts';
import type { Transaction, TransactionContext, UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { usagePeriod } from './usage-history.ts';
import {
  type EvaluationCount,
  evaluationCounts,
  findFeaturesEnteringStages,
  matchCounts,
  proxiedCounts,
  replaceUnlistedNames,
} from './evaluation-counts.ts';

export function usageEndpoints(context: FeaturesContext): readonly Endpoint[] {
  const { listEdgeInstances, usage, transaction, storeReport } = context;
  return [
    implement(ListEdgeInstances, async ({ caller }) => ({ edges: await listEdgeInstances(hiddenProjectsOf(caller)) })),

    reads(GetFeatureUsage, ({ params, caller }) => usage.lastHour(params.featureName, hiddenProjectsOf(caller))),

    reads(GetRawFeatureMetrics, ({ params, query, caller }) =>
      usage.byHour(params.featureName, query.hoursBack ?? defaultHoursBack, hiddenProjectsOf(caller)),
    ),

    reads(GetUsageHistory, ({ params, query, caller, now }) =>
      usage.history(params.featureName, usagePeriod(query, now), hiddenProjectsOf(caller)),
    ),

    reads(GetRecentUsage, ({ body, caller, now }) => usage.recent(body.features, now, hiddenProjectsOf(caller))),

    implement(RegisterApplication, (request) => storeRegistration(context, RegisterApplication, request, null)),

    implement(RegisterFrontendApplication, (request) =>
      storeRegistration(context, RegisterFrontendApplication, request, 'OK'),
    ),

    implement(ReportEdgeInstance, async (request) => {
      const { body, caller, now } = request;
      authorise(caller, ReportEdgeInstance.permission, {});
      return transaction(request, async ({ edgeInstances }) => {
        await edgeInstances.store(keptEdgeReport(body), now);
        return null;
      });
    }),

    implement(ReportFrontendMetrics, (request) =>
      storeMetrics(context, ReportFrontendMetrics, request, 'OK', request.query.sdk),
    ),

    implement(ReportMetrics, (request) => storeMetrics(context, ReportMetrics, request, null)),

    implement(ReportProxiedMetrics, async (request) => {
      const { body, caller, now } = request;
      authorise(caller, ReportProxiedMetrics.permission, {});
      const counts = proxiedCounts(body, caller, now);
      return storeReport(request, { counts, applications: proxiedApplications(body, caller) }, null);
    }),
  ];
}

const defaultHoursBack = 24;

/** Stores the registration of an application that has started, on the server or in browsers and apps. */
async function storeRegistration<R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof RegisterApplication | typeof RegisterFrontendApplication,
  request: OperationRequest<typeof RegisterApplication>,
  reply: R,
): Promise<R> {
  const { body, caller } = request;
  // An application may start before its environment is created, so the name of an unknown environment is stored as it is.
  const environment =
    (await findEnvironmentOfReport(caller, body.environment)) ?? effectiveEnvironment(caller, body.environment);
  authorise(caller, permission, { environment });
  const application = registeredApplication(body, environment, caller);
  return storeReport(request, { counts: [], applications: [application] }, reply);
}

/**
 * Stores the metrics that an SDK reports, on the server or in browsers and apps.
 * @param sdk the SDK and its version, for a body that does not name them
 */
async function storeMetrics<R>(
  { storeReport, findEnvironmentOfReport }: FeaturesContext,
  { permission }: typeof ReportMetrics | typeof ReportFrontendMetrics,
  request: OperationRequest<typeof ReportMetrics>,
  reply: R,
  sdk?: string,
): Promise<R> {
  const { caller, now } = request;
  const body = { ...(sdk === undefined ? {} : { sdkVersion: sdk }), ...request.body };
  const environment = await findEnvironmentOfReport(caller, body.environment);
  authorise(caller, permission, { environment });
  if (environment === undefined) throw unknownEnvironment(body.environment ?? 'default', '/body/environment');
  const counts = evaluationCounts(body, environment, now);
  return storeReport(request, { counts, applications: [reportingApplication(body, environment, caller)] }, reply);
}

/** The counts and applications of one request. */
interface Report {
  readonly counts: readonly EvaluationCount[];
  readonly applications: readonly ReportedApplicationInstance[];
}

function unique(values: readonly string[]): string[] {
  return [...new Set(values)];
}

/**
 * Adds the counts of features that exist in the projects of the reporter's token, and moves these features to their next lifecycle stages.
 * Returns the missing features.
 */
async function addCounts(
  { usage }: Transaction,
  reported: readonly EvaluationCount[],
  reporter: Caller,
  now: Date,
): Promise<readonly MissingFeature[]> {
  if (reported.length === 0) return [];
  const environmentTypes = await usage.environmentTypes();
  const counted = reported.filter(({ environment }) => environmentTypes.has(environment));
  const environments = unique(counted.map(({ environment }) => environment));
  const found = await usage.findReported(unique(counted.map(({ feature }) => feature)), environments);
  const { features, counts, missing } = matchCounts(counted, found, reporter);
  if (counts.length === 0) return missing;

  const enteredAt = now.toISOString();
  const names = findFeaturesEnteringStages(features, counts, environmentTypes, enteredAt).map(({ name }) => name);
  // The decision is repeated under the lock: a concurrent report may have moved the features.
  const locked = names.length === 0 ? [] : await usage.findReportedForUpdate(names, environments);
  const progressing = findFeaturesEnteringStages(locked, counts, environmentTypes, enteredAt);

  const dueNames = await usage.addByMinute(counts, now);
  await usage.addByHour(counts, now);
  const moved = new Set(progressing.map(({ name }) => name));
  const others = dueNames.filter((name) => !moved.has(name)).map((name) => ({ name, stages: [] }));
  await usage.enterStagesAndEmit([...progressing, ...others]);
  return missing;
}

/** Returns those of the names of new applications that the budget of the token allows. */
type Grant = (names: readonly string[]) => readonly string[];

/** Takes each new application of a request from the budget of the token once, however often the transaction is retried. */
function grantOnce({ caller, now }: TransactionContext, { takeFromBudget }: ApplicationBudget): Grant {
  const granted = new Map<string, boolean>();
  return (names) => {
    const newNames = names.filter((name) => !granted.has(name));
    const count = newNames.length === 0 ? 0 : takeFromBudget(caller.tokenId ?? String(caller.id), newNames.length, now);
    for (const [index, name] of newNames.entries()) granted.set(name, index < count);
    return names.filter((name) => granted.get(name));
  };
}

async function admit(
  { applications }: Transaction,
  reported: readonly ReportedApplicationInstance[],
  { caller, now }: TransactionContext,
  { limit, grant }: { readonly limit: number; readonly grant: Grant },
): Promise<Admission> {
  const stored = await applications.findReported(reported, now);
  const unknown = unknownApplications(reported, stored);
  const granted = grant(unknown);
  const slots = mayAnnounce(granted, stored)
    ? availableSlots(await applications.lockAndCount(), limit, isFrontendTokenCaller(caller))
    : 0;
  return admitApplications(reported, stored, { unknown, granted, slots });
}

/** Stores a report; the reply is sent after the commit. */
export type StoreReport = <R>(request: TransactionContext, report: Report, reply: R) => Promise<R>;

/**
 * Stores reports. The state of a feature is emitted when it enters a lifecycle stage, and otherwise about once a minute. The actor of
 * events about applications is the system. Applications beyond the limits are not listed; their counts are stored without their names.
 */
export function storeReport(transaction: UnitOfWork, budget: ApplicationBudget): StoreReport {
  return async (request, { counts, applications }, reply) => {
    const grant = grantOnce(request, budget);
    let unlisted: Admission['unlisted'] = { limit: 0, rate: 0 };
    await transaction({ ...request, caller: systemCaller }, async (tx) => {
      const admission = await admit(tx, applications, request, { limit: budget.limit, grant });
      const { listed, toWrite } = admission;
      unlisted = admission.unlisted;
      const missing = await addCounts(tx, replaceUnlistedNames(counts, listed), request.caller, request.now);
      const isPublic = isFrontendTokenCaller(request.caller);
      await tx.applications.recordSeen(toWrite, isPublic ? [] : missing, request.now, (announced) =>
        announced.map((application) => announceApplication(application, toWrite, request.now.toISOString())),
      );
      return reply;
    });
    for (const reason of ['limit', 'rate'] as const) {
      if (unlisted[reason] > 0) budget.onUnlisted(reason, unlisted[reason]);
    }
    return reply;
  };
}

interface Options {
  /** the maximum length of the list of applications */
  readonly limit: number;
  /** the maximum number of new applications in a minute, for each token */
  readonly perMinute: number;
  readonly registry: Registry;
  readonly log: Pick<Log, 'warn'>;
}

const minuteMs = 60_000;
/** The minimum time between warnings about a full list. */
const warnEveryMs = 60 * minuteMs;

/** Limits the list of applications: each new name adds a row for months and an event to the event log. */
export function applicationBudget({ limit, perMinute, registry, log }: Options) {
  let minute = 0;
  let usedByToken = new Map<string, number>();
  let warnedAt = Number.NEGATIVE_INFINITY;
  const counter = new Counter({
    name: 'bunting_features_applications_unlisted_total',
    help: 'new applications in reports that were not listed: the list was full, or the key named too many within a minute',
    labelNames: ['reason'],
    registers: [registry],
  });

  return {
    limit,
    /** Takes up to `requested` new applications from the budget of a token in this minute, and returns how many it grants. */
    takeFromBudget: (tokenId: string, requested: number, now: Date): number => {
      const current = Math.floor(now.getTime() / minuteMs);
      if (current !== minute) [minute, usedByToken] = [current, new Map()];
      const used = usedByToken.get(tokenId) ?? 0;
      const granted = Math.min(requested, Math.max(0, perMinute - used));
      usedByToken.set(tokenId, used + granted);
      return granted;
    },
    /** Counts applications that are not listed, and logs a warning about a full list at most once an hour. */
    onUnlisted: (reason: 'limit' | 'rate', applications: number): void => {
      counter.inc({ reason }, applications);
      if (reason !== 'limit' || performance.now() - warnedAt < warnEveryMs) return;
      warnedAt = performance.now();
      log.warn(
        `The list of applications is full (FEATURES_MAX_APPLICATIONS=${limit}, a tenth of it for frontend keys): ${applications} new applications were not listed. Delete unused applications or raise the limit.`,
      );
    },
  };
}
export type ApplicationBudget = ReturnType<typeof applicationBudget>;
