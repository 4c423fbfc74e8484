import { type Bus, type CallContext, systemContext } from '@bunting/bus';
import {
  GetPermissionsOfUsers,
  isClosedState,
  isFinalRefusal,
  projectGone,
  Refusal,
  systemCaller,
} from '@bunting/contracts';
import { backoffMs, type Log, logFailure, startLoop } from '@bunting/runtime';
import { inSpan, type SpanOptions } from '@bunting/tracing';
import { Gauge, Histogram, type Registry } from 'prom-client';
import { call } from '../calls.ts';
import { loadPreview } from '../previews/endpoints.ts';
import type { SyncProtection } from '../protection/endpoints.ts';
import { actorOf, type ChangeRequest } from '../requests/change-request.ts';
import type { ChangeRequestReader } from '../requests/request-read-store.ts';
import type { ReviewFacts } from '../reviews/approvals.ts';
import {
  judgeLocked,
  loadReviewFacts,
  recheckAllApprovals,
  type RecheckApprovals,
  takeBackLocked,
} from '../reviews/endpoints.ts';
import type { RolesOf } from '../reviews/request-roles.ts';
import { removeUserFromRequest, suspendSchedule } from '../states/commands.ts';
import { type Apply, loadSegmentConflicts } from '../states/endpoints.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { DueJobsReader, UncheckedSchedule } from './schedule-store.ts';
import { beginScheduledRun, type Scheduler, suspensionReason } from './scheduled-run.ts';

/** The timeout of each call that a job makes. */
const callTimeoutMs = 30_000;

/** Of the span with which each job begins a trace of its own: a request that caused the job has ended its trace long since. */
function jobSpanOptions(): SpanOptions {
  return { name: 'pending change request', kind: 'internal' };
}

/**
 * Runs jobs so that a failure of one does not stop the others: a job that needs an unavailable service is retried by the next run, and a job
 * that fails because of a defect after a backoff.
 */
function jobRunner(intervalMs: number, log: Log) {
  let isStopped = false;
  /** the jobs since the last `reportOutage` that need an unavailable service */
  let blocked: { readonly subject: string; readonly message: string }[] = [];
  let outageReported = false;

  const run = async (
    subject: string,
    id: number,
    job: (context: CallContext) => Promise<unknown>,
    backoff: JobBackoffs,
  ): Promise<void> => {
    if (isStopped) return;
    try {
      await inSpan(jobSpanOptions, undefined, () => job(systemContext(callTimeoutMs)));
      backoff.succeeded(id);
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'ServiceUnavailable') {
        blocked.push({ subject, message: error.message });
        return;
      }
      if (backoff.failed(id))
        logFailure(log, `The background jobs of change requests failed on ${subject} and retry with backoff`, error);
    }
  };

  return {
    run,
    /** Runs a job for each change request. */
    runEach: async <T extends { readonly id: number }>(
      requests: readonly T[],
      job: (request: T, context: CallContext) => Promise<unknown>,
      backoff: JobBackoffs,
    ): Promise<void> => {
      for (const request of requests)
        await run(`change request ${request.id}`, request.id, (context) => job(request, context), backoff);
    },
    /** Warns once when a service becomes unavailable, and once when it blocks no job any more. */
    reportOutage: (): void => {
      const [first] = blocked;
      if (first !== undefined && !outageReported) {
        log.warn(
          `The background jobs of change requests wait for an unavailable service and retry every ${intervalMs} ms. Blocked: ${blocked.length} of them, the first on ${first.subject}: ${first.message}`,
        );
      }
      if (first === undefined && outageReported) log.warn('The background jobs of change requests work again.');
      outageReported = first !== undefined;
      blocked = [];
    },
    /** Skips all further jobs. */
    stop: (): void => {
      isStopped = true;
    },
  };
}

const maxBackoffMs = 60_000;

/** Exponential backoff with jitter for each of many jobs, so that a job that always fails neither floods the log nor delays the others. */
function jobBackoffs(firstMs: number, now: () => number) {
  const failing = new Map<number, { readonly failures: number; readonly retryAt: number }>();
  return {
    /** The ids whose backoff has not ended. */
    idsInBackoff: (): number[] => [...failing].flatMap(([id, { retryAt }]) => (retryAt > now() ? id : [])),
    /** Milliseconds until the first backoff ends; infinity without one. */
    endsInMs: (): number =>
      [...failing.values()]
        .map(({ retryAt }) => retryAt - now())
        .filter((ms) => ms > 0)
        .reduce((first, ms) => Math.min(first, ms), Number.POSITIVE_INFINITY),
    /** Begins a backoff, twice as long as the previous one. Returns true after the first failure. */
    failed: (id: number): boolean => {
      const failures = (failing.get(id)?.failures ?? 0) + 1;
      const pauseMs = backoffMs(failures, { firstMs, maxMs: maxBackoffMs });
      failing.set(id, { failures, retryAt: now() + pauseMs });
      return failures === 1;
    },
    succeeded: (id: number): void => void failing.delete(id),
  };
}
type JobBackoffs = ReturnType<typeof jobBackoffs>;

/** A request whose scheduled time has come, with the user who scheduled it. */
interface ScheduledByUser {
  readonly id: number;
  readonly userId: number;
}

interface ClaimOptions {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly rolesOf: RolesOf;
  /** records the delay in milliseconds of each scheduled request that begins to be applied */
  readonly onScheduledBegin: (delayMs: number) => void;
}

/** Loads the current permissions of the user who scheduled. */
async function findScheduler(bus: Bus, id: number, context: CallContext): Promise<Scheduler> {
  if (id <= 0) return { kind: 'admin token' };
  const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [id] } }, context);
  const found = users.find(({ user }) => user.id === id);
  return found === undefined ? { kind: 'deleted user' } : { kind: 'user', caller: found.caller };
}

/** The facts about a request, unless its project is archived or was deleted: then it runs into that conflict. */
function loadFactsOf(bus: Bus, request: ChangeRequest, context: CallContext): Promise<ReviewFacts> {
  return loadReviewFacts(bus, request.project, [request], context).catch((error: unknown) => {
    if (!(error instanceof Refusal) || error.kind !== 'NotFoundError') throw error;
    return { connected: new Set(), approvers: new Map() };
  });
}

/** Marks a request whose scheduled time has come as being applied, and returns it; undefined if its run does not begin. */
function claimScheduledRequest({ bus, reader, transaction, rolesOf, onScheduledBegin }: ClaimOptions) {
  return async ({ id, userId }: ScheduledByUser, context: CallContext): Promise<ChangeRequest | undefined> => {
    const scheduled = await reader.byId(id);
    if (scheduled === undefined) return undefined;
    const scheduler = await findScheduler(bus, userId, context);
    const facts = await loadFactsOf(bus, scheduled, context);
    return transaction(context, async (tx) => {
      const { requests, schedules } = tx;
      const delayMs = await schedules.lockDueRequest(id);
      const before = delayMs === undefined ? undefined : await requests.getOfAnyProjectForUpdate(id);
      // Another user may have rescheduled it in the meantime: the next run checks that user's permissions.
      if (delayMs === undefined || before?.schedule?.by.id !== userId) return undefined;
      const requirement = await judgeLocked(tx, before, facts, rolesOf);
      const request = await takeBackLocked(tx, before, requirement);
      if (request.schedule === null) return undefined;
      const conflicts = await loadSegmentConflicts(requests, request);
      const run = beginScheduledRun(request, { scheduler, delayMs, conflicts, requirement, now: requests.now() });
      await requests.save(run);
      if (!run.isBegun) return undefined;
      onScheduledBegin(delayMs);
      return run.request;
    });
  };
}

/** Claims a request whose scheduled time has come, and applies it. */
function runScheduledRequest({ apply, ...options }: ClaimOptions & { readonly apply: Apply }) {
  const claim = claimScheduledRequest(options);
  return async (scheduled: ScheduledByUser, context: CallContext): Promise<void> => {
    const begun = await claim(scheduled, context);
    if (begun !== undefined) await apply(begun, context);
  };
}

interface Options {
  readonly bus: Bus;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
}

/** Suspends a scheduled request if it conflicts with edits that were made after it was scheduled. */
function suspendIfConflicting({ bus, reader, transaction }: Options) {
  return async ({ id, uncheckedEdits }: UncheckedSchedule, context: CallContext): Promise<void> => {
    const request = await reader.byId(id);
    if (request === undefined || request.schedule === null) return;
    const reason = await loadPreview({ bus, reader }, request, { withStates: false }, context).then(
      ({ preview }) => suspensionReason(request, preview),
      (error: unknown) => {
        if (!isFinalRefusal(error)) throw error;
        return error.kind === 'NotFoundError' ? projectGone.message : error.message;
      },
    );
    await transaction(context, async ({ requests, schedules }) => {
      const before = await requests.getOfAnyProjectForUpdate(id);
      // The request was rescheduled in the meantime: the next run checks it again.
      if (before?.schedule?.scheduledAt !== request.schedule?.scheduledAt) return;
      await schedules.markChecked(id, uncheckedEdits);
      if (before === undefined || reason === undefined) return;
      await requests.save(suspendSchedule(before, reason, actorOf(systemCaller, requests.now())));
    });
  };
}

interface OptionsOfResumeInterruptedRequest {
  readonly transaction: UnitOfWork;
  readonly apply: Apply;
}

/** Continues an attempt to apply a request that was interrupted, unless the attempt has ended in the meantime. */
function resumeInterruptedRequest({ transaction, apply }: OptionsOfResumeInterruptedRequest) {
  return async ({ id }: { readonly id: number }, context: CallContext): Promise<void> => {
    const request = await transaction(context, ({ requests }) => requests.getOfAnyProjectForUpdate(id));
    if (request !== undefined && request.applying !== null) await apply(request, context);
  };
}

/** Removes a deleted user from a request that is neither closed nor being applied. */
function removeDeletedUser(transaction: UnitOfWork) {
  return ({ id, userId }: { readonly id: number; readonly userId: number }, context: CallContext): Promise<void> =>
    transaction(context, async (tx) => {
      const { requests } = tx;
      const before = await requests.getOfAnyProjectForUpdate(id);
      if (before === undefined || isClosedState(before.state) || before.applying !== null) return;
      const mayApprove = (id: number): boolean => id !== userId;
      const request = await takeBackLocked(tx, before, { minApprovals: before.minApprovals, mayApprove });
      await requests.save(removeUserFromRequest(request, userId, requests.now()));
    });
}

export interface DueJobsLoopOptions {
  readonly bus: Bus;
  readonly dueJobs: DueJobsReader;
  readonly reader: ChangeRequestReader;
  readonly transaction: UnitOfWork;
  readonly apply: Apply;
  readonly rolesOf: RolesOf;
  readonly recheckApprovals: RecheckApprovals;
  readonly syncProtection: SyncProtection;
  /** how soon to retry jobs that failed */
  readonly intervalMs: number;
  readonly recoveryTimeoutMs: number;
  /** records the delay in milliseconds of each scheduled request that begins to be applied */
  readonly onScheduledBegin: (delayMs: number) => void;
  readonly log: Log;
}

/**
 * The interval of checks of the users of requests: of deleted users, whose last requests may be stored after their deletion was consumed, and of
 * approvals, which can lose their effect without an event that reaches this service.
 */
const usersIntervalMs = 60_000;
/** The minimum pause between two checks of approvals, which many changes of users share. */
const minApprovalsPauseMs = 1_000;
/** The maximum pause, because the wake-up for a schedule that another replica stored may have been lost. */
const pollMs = 5_000;

/**
 * Runs the jobs that no request triggers, when they are due: applies scheduled requests, suspends those that conflict with newer edits,
 * resumes attempts that a crash interrupted, removes deleted users, takes back approvals that no longer count, and sends unsynced
 * protections. Every replica runs them; row locks make sure that each scheduled request is claimed once.
 */
export function startDueJobsLoop({
  dueJobs,
  syncProtection,
  intervalMs,
  recoveryTimeoutMs,
  log,
  ...options
}: DueJobsLoopOptions) {
  let nextUsersCheckAt = Number.NEGATIVE_INFINITY;
  let lastApprovalsCheckAt = Number.NEGATIVE_INFINITY;
  let nextApprovalsCheckAt = Number.NEGATIVE_INFINITY;
  const backoff = (): JobBackoffs => jobBackoffs(intervalMs, () => performance.now());
  const [applyBackoff, checkBackoff, deletionBackoff] = [backoff(), backoff(), backoff()];
  const [protectionBackoff, approvalsBackoff] = [backoff(), backoff()];
  const jobs = jobRunner(intervalMs, log);

  const syncProtections = async (): Promise<void> => {
    if (protectionBackoff.idsInBackoff().length > 0 || (await dueJobs.unsyncedProtections()).length === 0) return;
    await jobs.run('the protection of environments by change requests', 0, syncProtection, protectionBackoff);
  };

  const checkUsers = async (): Promise<void> => {
    if (performance.now() < nextUsersCheckAt) return;
    nextUsersCheckAt = performance.now() + usersIntervalMs;
    await jobs.runEach(await dueJobs.requestsOfDeletedUsers(), removeDeletedUser(options.transaction), deletionBackoff);
  };

  // Last of the jobs: it reads every open request with approvals, and no schedule waits for it, since its run checks the approvals itself.
  const recheckApprovals = async (): Promise<void> => {
    if (performance.now() < nextApprovalsCheckAt) return;
    lastApprovalsCheckAt = performance.now();
    nextApprovalsCheckAt = lastApprovalsCheckAt + usersIntervalMs;
    await jobs.run('the approvals of change requests', 0, recheckAllApprovals(options), approvalsBackoff);
  };

  const runDueJobs = async (): Promise<void> => {
    await syncProtections();
    await jobs.runEach(
      await dueJobs.interruptedRequests(recoveryTimeoutMs, applyBackoff.idsInBackoff()),
      resumeInterruptedRequest(options),
      applyBackoff,
    );
    await checkUsers();
    await jobs.runEach(
      await dueJobs.uncheckedSchedules(checkBackoff.idsInBackoff()),
      suspendIfConflicting(options),
      checkBackoff,
    );
    await jobs.runEach(
      await dueJobs.scheduledRequests(applyBackoff.idsInBackoff()),
      runScheduledRequest(options),
      applyBackoff,
    );
    await recheckApprovals();
    jobs.reportOutage();
  };

  const loop = startLoop({
    name: 'The loop of the background jobs of change requests',
    intervalMs: pollMs,
    log,
    run: async () => {
      const inBackoff = { applying: applyBackoff.idsInBackoff(), checking: checkBackoff.idsInBackoff() };
      // Before the query: a backoff may end during it.
      const backoffEndsInMs = Math.min(applyBackoff.endsInMs(), checkBackoff.endsInMs());
      const dueInMs = (await dueJobs.nextInMs(recoveryTimeoutMs, inBackoff)) ?? pollMs;
      const inMs = Math.min(
        dueInMs,
        backoffEndsInMs,
        nextUsersCheckAt - performance.now(),
        nextApprovalsCheckAt - performance.now(),
      );
      if (inMs > 0) return Math.min(inMs, pollMs);
      await runDueJobs();
      return intervalMs;
    },
  });

  return {
    /** Checks immediately for due jobs. */
    wake: loop.wake,
    /** Checks soon the requests, approvals and schedules of users who were deleted or whose permissions changed. */
    usersChanged: (): void => {
      nextUsersCheckAt = Number.NEGATIVE_INFINITY;
      nextApprovalsCheckAt = Math.min(nextApprovalsCheckAt, lastApprovalsCheckAt + minApprovalsPauseMs);
      loop.wake();
    },
    stop: async (): Promise<void> => {
      jobs.stop();
      await loop.stop();
    },
  };
}

/** Registers how late scheduled change requests are applied. @returns the function that records the delay of one that begins, in milliseconds */
export function registerScheduleMetrics(
  registry: Registry,
  { overdueMs }: Pick<DueJobsReader, 'overdueMs'>,
): (delayMs: number) => void {
  new Gauge({
    name: 'bunting_change_requests_overdue_seconds',
    help: 'time since the oldest scheduled change request was due that has not begun; 0 for none',
    registers: [registry],
    async collect() {
      // While the database is unreachable the last value is served.
      const late = await overdueMs().catch(() => undefined);
      if (late !== undefined) this.set(late / 1_000);
    },
  });
  const delay = new Histogram({
    name: 'bunting_change_requests_schedule_delay_seconds',
    help: 'time from the scheduled time of a change request until it began to be applied',
    buckets: [0.1, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900],
    registers: [registry],
  });
  return (delayMs) => delay.observe(delayMs / 1_000);
}
