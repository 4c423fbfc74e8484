import { type Bus, call, type CallContext, systemContext } from '@bunting/bus';
import {
  type Caller,
  GetPermissionsOfUsers,
  isFinalRefusal,
  may,
  Refusal,
  refusal,
  systemCaller,
} from '@bunting/contracts';
import { startLoop } from '@bunting/runtime';
import { inSpan, type SpanOptions } from '@bunting/tracing';
import type { ChangeRequest } from '../domain/change-request.ts';
import { isClosed } from '../domain/content/edit-content.ts';
import { removeUser } from '../domain/review/remove-user.ts';
import { abandonApplying, beginApplying, suspend, systemRoles } from '../domain/review/execute-command.ts';
import { suspensionReason } from '../domain/review/suspension-reason.ts';
import type { PendingWorkReader } from '../persistence/pending-work.ts';
import type { ChangeRequestReader } from '../persistence/change-request-repository.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { type Apply, failureReason } from './apply-request.ts';
import { previewsOf } from './previews.ts';
import { type RetryBackoff, retryBackoff } from './retry-backoff.ts';
import { segmentConflictsOf } from './segment-conflicts.ts';
import type { SyncProtection } from './sync-protection.ts';

export interface ScheduleRunnerOptions {
  readonly bus: Bus;
  readonly pendingWork: PendingWorkReader;
  readonly reader: ChangeRequestReader;
  readonly work: UnitOfWork;
  readonly apply: Apply;
  readonly syncProtection: SyncProtection;
  /** how soon to retry failed work */
  readonly intervalMs: number;
  readonly recoveryTimeoutMs: number;
  /** takes the delay of each scheduled request that begins to be applied */
  readonly onScheduledBegin: (delayMs: number) => void;
  readonly warn: (message: string) => void;
}

/** A scheduled run that is later than this fails: a release planned for the night must not happen at noon. */
const maxDelayMs = 15 * 60_000;
const callTimeoutMs = 30_000;
/** The reason to suspend requests of a deleted or archived project, in the words of the features service when they are applied. */
const projectGone = 'Project is no longer available';
/** The interval of checks for deleted users, whose last requests may be stored after their deletion was consumed. */
const deletedUsersIntervalMs = 60_000;
/** The longest pause: the wake-up for a schedule of another replica may have been lost. */
const pollMs = 5_000;

/**
 * Background work: applies requests whose scheduled time has come, suspends those that conflict with newer edits, and finishes runs of
 * crashed processes. Every replica runs it; row locks make sure that each request is claimed once.
 */
export const startScheduleRunner = ({
  bus,
  pendingWork,
  reader,
  work,
  apply,
  syncProtection,
  intervalMs,
  recoveryTimeoutMs,
  onScheduledBegin,
  warn,
}: ScheduleRunnerOptions) => {
  let stopped = false;
  /** jobs of the current run that an unavailable service held up */
  let heldUp: { readonly subject: string; readonly message: string }[] = [];
  let outageReported = false;
  let nextDeletedUsersCheckAt = Number.NEGATIVE_INFINITY;
  const backoff = () => retryBackoff(intervalMs, () => performance.now());
  /** the pauses of requests whose application, or whose check for conflicts, failed because of a defect */
  const [applyBackoff, checkBackoff, deletionBackoff, protectionBackoff] = [backoff(), backoff(), backoff(), backoff()];

  /** The current permissions of the user who scheduled. An admin token belongs to no user who could be deleted. */
  const accessOf = async (id: number, context: CallContext): Promise<Caller | 'gone' | 'token'> => {
    if (id <= 0) return 'token';
    const { users } = await call(bus, GetPermissionsOfUsers, { body: { ids: [id] } }, context);
    return users.find(({ user }) => user.id === id)?.caller ?? 'gone';
  };

  /** The reason not to run a due request; undefined if it may run. */
  const reasonNotTo = (request: ChangeRequest, scheduler: Caller | 'token', delayMs: number): string | undefined => {
    if (delayMs > maxDelayMs) return 'it could not begin within 15 minutes of the scheduled time';
    const { project, environment } = request;
    if (scheduler === 'token' || may(scheduler, ['APPLY_CHANGE_REQUEST'], { project, environment })) return undefined;
    return `the user who scheduled it (user id: ${scheduler.id}) no longer has the permission to apply it`;
  };

  /**
   * Starts a due request. Permissions are checked again, because they may have changed since the time was set: the schedule of a deleted
   * user is suspended, and a run that is too late fails.
   */
  const begin = async (
    { id, userId }: { readonly id: number; readonly userId: number },
    context: CallContext,
  ): Promise<ChangeRequest | undefined> => {
    const scheduler = await accessOf(userId, context);
    return work(context.traceparent, async ({ requests, schedules, outbox }) => {
      const delayMs = await schedules.claimDue(id);
      const request = delayMs === undefined ? undefined : await requests.getForUpdate(id);
      // Another user may have rescheduled it in the meantime: the next run checks that user's permissions.
      if (delayMs === undefined || request?.schedule?.by.id !== userId) return undefined;
      const now = await requests.now();
      const { by } = request.schedule;
      try {
        if (scheduler === 'gone') {
          throw refusal(
            'ConflictError',
            `The user who scheduled this change request (user id: ${userId}) has been deleted or disabled`,
          );
        }
        const begun = beginApplying(request, 'run', { by, now, roles: systemRoles });
        const conflicts = await segmentConflictsOf(requests, request);
        const reason =
          reasonNotTo(request, scheduler, delayMs) ?? (conflicts.length > 0 ? failureReason(conflicts) : undefined);
        if (reason === undefined) {
          await requests.save(request, begun);
          onScheduledBegin(delayMs);
          return begun;
        }
        const { request: after, events } = abandonApplying(begun, now, { command: 'fail', reason });
        if (after !== null) await requests.save(request, after);
        outbox.emit(events);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { request: after, events } = suspend(request, error.message, { by, now });
        if (after !== null) await requests.save(request, after);
        outbox.emit(events);
      }
      return undefined;
    });
  };

  /** Removes a deleted user from a request. */
  const removeDeletedUser = (
    { id, userId }: { readonly id: number; readonly userId: number },
    { traceparent }: CallContext,
  ): Promise<void> =>
    work(traceparent, async ({ requests, outbox }) => {
      const before = await requests.getForUpdate(id);
      if (before === undefined || isClosed(before) || before.applying !== null) return;
      const { request: after, events } = removeUser(before, userId, await requests.now());
      if (after !== null) await requests.save(before, after);
      outbox.emit(events);
    });

  const removeDeletedUsers = async (): Promise<void> => {
    if (performance.now() < nextDeletedUsersCheckAt) return;
    nextDeletedUsersCheckAt = performance.now() + deletedUsersIntervalMs;
    await each(await pendingWork.ofDeletedUsers(), removeDeletedUser, deletionBackoff);
  };

  /** Loads a request whose attempt to apply it was interrupted. */
  const resume = async (
    { id }: { readonly id: number },
    { traceparent }: CallContext,
  ): Promise<ChangeRequest | undefined> =>
    work(traceparent, async ({ requests }) => {
      const request = await requests.getForUpdate(id);
      return request?.applying === null ? undefined : request;
    });

  const checkConflicts = async (
    id: number,
    project: string,
    uncheckedEdits: number,
    context: CallContext,
  ): Promise<void> => {
    const request = await reader.one(id, project);
    if (request === undefined || request.schedule === null) return;
    const reason = await previewsOf({ bus, reader }, project, [request], false, context).then(
      (previews) => {
        const { preview } = previews.get(id) ?? {};
        if (preview === undefined) throw new Error('The features service returned no preview for the change request.');
        return suspensionReason(request, preview);
      },
      (error: unknown) => {
        if (!isFinalRefusal(error)) throw error;
        return error.kind === 'NotFoundError' ? projectGone : error.message;
      },
    );
    await work(context.traceparent, async ({ requests, schedules, outbox }) => {
      const before = await requests.getForUpdate(id);
      // The request was rescheduled in the meantime: the next run checks it again.
      if (before?.schedule?.scheduledAt !== request.schedule?.scheduledAt) return;
      await schedules.conflictsChecked(id, uncheckedEdits);
      if (before === undefined || reason === undefined) return;
      const actor = { by: { id: systemCaller.id, name: systemCaller.name }, now: await requests.now() };
      const { request: after, events } = suspend(before, reason, actor);
      if (after !== null) await requests.save(before, after);
      outbox.emit(events);
    });
  };

  /** The request that scheduled the work has a trace of its own. */
  const pendingSpan = (): SpanOptions => ({ name: 'pending change request', kind: 'internal' });

  /** Runs a job. One that fails does not stop the others: it is retried by the next run after an outage, and otherwise after a pause. */
  const attempt = async (
    subject: string,
    id: number,
    job: (context: CallContext) => Promise<unknown>,
    pauses: RetryBackoff,
  ): Promise<void> => {
    if (stopped) return;
    try {
      await inSpan(pendingSpan, undefined, () => job(systemContext(callTimeoutMs)));
      pauses.succeeded(id);
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'ServiceUnavailable') {
        heldUp.push({ subject, message: error.message });
        return;
      }
      if (pauses.failed(id))
        warn(`The schedule runner failed on ${subject} and retries with backoff: ${(error as Error).message}`);
    }
  };

  /** Runs a job per change request. */
  const each = async <T extends { readonly id: number }>(
    requests: readonly T[],
    job: (request: T, context: CallContext) => Promise<unknown>,
    pauses: RetryBackoff,
  ): Promise<void> => {
    for (const request of requests)
      await attempt(`change request ${request.id}`, request.id, (context) => job(request, context), pauses);
  };

  const applyAfter =
    <T>(take: (item: T, context: CallContext) => Promise<ChangeRequest | undefined>) =>
    async (item: T, context: CallContext) => {
      const begun = await take(item, context);
      if (begun !== undefined) await apply(begun, context);
    };

  /** Warns once when a service becomes unavailable, and once when no job is held up any more: a run may follow every second. */
  const reportOutage = (): void => {
    const [first] = heldUp;
    if (first !== undefined && !outageReported) {
      warn(
        `The schedule runner waits for an unavailable service and retries every ${intervalMs} ms. Held up: ${heldUp.length} of its jobs, the first on ${first.subject}: ${first.message}`,
      );
    }
    if (first === undefined && outageReported) warn('The schedule runner works again.');
    outageReported = first !== undefined;
  };

  const runPendingWork = async (): Promise<void> => {
    heldUp = [];
    if (protectionBackoff.paused().length === 0 && (await pendingWork.unsyncedProtections()).length > 0)
      await attempt('the protection of environments by change requests', 0, syncProtection, protectionBackoff);
    await each(
      await pendingWork.interrupted(recoveryTimeoutMs, applyBackoff.paused()),
      applyAfter(resume),
      applyBackoff,
    );
    await removeDeletedUsers();
    await each(
      await pendingWork.uncheckedSchedules(checkBackoff.paused()),
      ({ id, project, uncheckedEdits }, context) => checkConflicts(id, project, uncheckedEdits, context),
      checkBackoff,
    );
    await each(await pendingWork.due(applyBackoff.paused()), applyAfter(begin), applyBackoff);
    reportOutage();
  };

  const loop = startLoop({
    name: 'The schedule runner of change requests',
    intervalMs: pollMs,
    warn,
    run: async () => {
      const paused = { applying: applyBackoff.paused(), checking: checkBackoff.paused() };
      // Before the query: a pause may end during it.
      const pauseEndsInMs = Math.min(applyBackoff.endsInMs(), checkBackoff.endsInMs());
      const dueInMs = (await pendingWork.nextInMs(recoveryTimeoutMs, paused)) ?? pollMs;
      const inMs = Math.min(dueInMs, pauseEndsInMs, nextDeletedUsersCheckAt - performance.now());
      if (inMs > 0) return Math.min(inMs, pollMs);
      await runPendingWork();
      return intervalMs;
    },
  });

  return {
    /** Checks immediately for pending work. */
    wake: loop.wake,
    /** Checks immediately for requests and schedules of deleted users. */
    usersDeleted: (): void => {
      nextDeletedUsersCheckAt = Number.NEGATIVE_INFINITY;
      loop.wake();
    },
    stop: async (): Promise<void> => {
      stopped = true;
      await loop.stop();
    },
  };
};
