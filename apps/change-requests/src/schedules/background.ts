import type { Bus } from '@bunting/bus';
import { type Log, startLoop } from '@bunting/runtime';
import type { ChangeRequestReader } from '../persistence/change-request-reader.ts';
import type { DueJobsReader } from './schedule-store.ts';
import type { UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import type { Apply } from '../operations/state/apply-request.ts';
import type { RecheckApprovals } from '../reviews/endpoints.ts';
import type { RolesOf } from '../reviews/request-roles.ts';
import type { SyncProtection } from '../operations/configuration/protection-sync.ts';
import { removeDeletedUser } from '../background/remove-deleted-user.ts';
import { recheckAllApprovals } from '../background/recheck-all-approvals.ts';
import { jobBackoffs } from '../background/job-backoffs.ts';
import { jobRunner } from '../background/job-runner.ts';
import { resumeInterruptedRequest } from '../background/resume-interrupted-request.ts';
import { runScheduledRequest } from '../background/run-scheduled-request.ts';
import { suspendIfConflicting } from '../background/suspend-if-conflicting.ts';

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
export const startDueJobsLoop = ({
  dueJobs,
  syncProtection,
  intervalMs,
  recoveryTimeoutMs,
  log,
  ...options
}: DueJobsLoopOptions) => {
  let nextUsersCheckAt = Number.NEGATIVE_INFINITY;
  let lastApprovalsCheckAt = Number.NEGATIVE_INFINITY;
  let nextApprovalsCheckAt = Number.NEGATIVE_INFINITY;
  const backoff = () => jobBackoffs(intervalMs, () => performance.now());
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
};
