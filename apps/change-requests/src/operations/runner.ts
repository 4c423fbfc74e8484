import { type Bus, call, type CallContext, systemContext } from '@bunting/bus';
import { type Caller, GetUsersAccess, may, Refusal, refusal, systemCaller } from '@bunting/contracts';
import { startLoop } from '@bunting/runtime';
import type { ChangeRequest } from '../domain/change-request.ts';
import { isClosed } from '../domain/content.ts';
import { removeUser } from '../domain/remove-user.ts';
import { abandonApplying, beginApplying, suspend } from '../domain/move.ts';
import { suspensionOf } from '../domain/suspension.ts';
import type { PendingWorkReader } from '../persistence/pending-work.ts';
import type { ChangeRequestReader } from '../persistence/change-request-repository.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import { type Apply, reasonOf } from './apply.ts';
import { previewsOf } from './previews.ts';
import { segmentsInUse } from './segments-in-use.ts';
import type { SyncProtection } from './sync-protection.ts';

export interface RunnerOptions {
  readonly bus: Bus;
  readonly agenda: PendingWorkReader;
  readonly reader: ChangeRequestReader;
  readonly work: UnitOfWork;
  readonly apply: Apply;
  readonly tellProtection: SyncProtection;
  /** how soon to retry failed work */
  readonly intervalMs: number;
  readonly recoveryTimeoutMs: number;
  readonly warn: (message: string) => void;
}

export interface Runner {
  /** Checks immediately for pending work. */
  wake(): void;
  /** Checks immediately for requests and schedules of deleted users. */
  usersDeleted(): void;
  stop(): Promise<void>;
}

/** A scheduled run that is later than this fails: a release planned for the night must not happen at noon. */
const maxDelayMs = 15 * 60_000;
const callTimeoutMs = 30_000;
/** The interval of checks for deleted users, whose last requests may be stored after their deletion was consumed. */
const deletedUsersIntervalMs = 60_000;
/** The longest pause: another replica may have scheduled something without this one being woken. */
const pollMs = 5_000;

const schedulerRoles = { author: false, admin: false, reviewer: false, applier: false, system: true } as const;

/**
 * Background work: applies requests whose scheduled time has come, suspends those that conflict with newer edits, and finishes runs of
 * crashed processes. Every replica runs it; row locks make sure that each request is claimed once.
 */
export const startRunner = ({
  bus,
  agenda,
  reader,
  work,
  apply,
  tellProtection,
  intervalMs,
  recoveryTimeoutMs: recoveryMs,
  warn,
}: RunnerOptions): Runner => {
  let stopped = false;
  let departuresAt = Number.NEGATIVE_INFINITY;

  /** What the user who scheduled may do now. Behind an admin token stands no person who could be gone. */
  const accessOf = async (id: number, context: CallContext): Promise<Caller | 'gone' | 'token'> => {
    if (id <= 0) return 'token';
    const { users } = await call(bus, GetUsersAccess, { body: { ids: [id] } }, context);
    return users.find(({ user }) => user.id === id)?.caller ?? 'gone';
  };

  /** Why a request is not run at its time although it could be; nothing, where it may be run. */
  const reasonNotTo = (request: ChangeRequest, scheduler: Caller | 'token', late: number): string | undefined => {
    if (late > maxDelayMs) return 'the service was not running at the scheduled time';
    const { project, environment } = request;
    if (scheduler === 'token' || may(scheduler, ['APPLY_CHANGE_REQUEST'], { project, environment })) return undefined;
    return `the missing permission to apply it, which the user who scheduled it (user id: ${scheduler.id}) has no longer`;
  };

  /**
   * Decides to run a request whose time has come. What was allowed when the time was set may be no longer, so it is asked
   * once more: on the word of somebody who is gone nothing is applied, and what comes far too late fails.
   */
  const begin = async (
    { id, userId }: { readonly id: number; readonly userId: number },
    context: CallContext,
  ): Promise<ChangeRequest | undefined> => {
    const scheduler = await accessOf(userId, context);
    return work(context.traceparent, async ({ requests, schedules, outbox }) => {
      const late = await schedules.claimDue(id);
      const request = late === undefined ? undefined : await requests.getForUpdate(id);
      // Somebody else may have given it another time meanwhile: then it is that user who counts.
      if (late === undefined || request?.schedule?.by.id !== userId) return undefined;
      const now = await requests.now();
      const { by } = request.schedule;
      try {
        if (scheduler === 'gone') {
          throw refusal(
            'ConflictError',
            `The user who scheduled this change request (user id: ${userId}) has been deleted or disabled`,
          );
        }
        const begun = beginApplying(request, 'run', { by, now, roles: schedulerRoles });
        const inTheWay = await segmentsInUse(requests, request);
        const reason = reasonNotTo(request, scheduler, late) ?? (inTheWay.length > 0 ? reasonOf(inTheWay) : undefined);
        if (reason === undefined) {
          await requests.save(request, begun);
          return begun;
        }
        const { request: after, events } = abandonApplying(begun, now, { command: 'fail', reason });
        if (after !== null) await requests.save(request, after);
        for (const event of events) outbox.event(event);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { request: after, events } = suspend(request, error.message, { by, now });
        if (after !== null) await requests.save(request, after);
        for (const event of events) outbox.event(event);
      }
      return undefined;
    });
  };

  /** Settles what a user who is gone has left behind. */
  const settle = (
    { id, userId }: { readonly id: number; readonly userId: number },
    { traceparent }: CallContext,
  ): Promise<void> =>
    work(traceparent, async ({ requests, outbox }) => {
      const before = await requests.getForUpdate(id);
      if (before === undefined || isClosed(before) || before.applying !== null) return;
      const { request: after, events } = removeUser(before, userId, await requests.now());
      if (after !== null) await requests.save(before, after);
      for (const event of events) outbox.event(event);
    });

  const settleDepartures = async (): Promise<void> => {
    if (performance.now() < departuresAt) return;
    departuresAt = performance.now() + deletedUsersIntervalMs;
    await each(await agenda.leftBehind(), settle);
  };

  /** Takes up what was begun and did not end. */
  const resume = async (id: number, { traceparent }: CallContext): Promise<ChangeRequest | undefined> =>
    work(traceparent, async ({ requests }) => {
      const request = await requests.getForUpdate(id);
      return request?.applying === null ? undefined : request;
    });

  const look = async (id: number, project: string, touched: number, context: CallContext): Promise<void> => {
    const request = await reader.one(id, project);
    if (request === undefined || request.schedule === null) return;
    const { preview } = (await previewsOf({ bus, reader }, project, [request], false, context)).get(id) ?? {};
    if (preview === undefined) return;
    const reason = suspensionOf(request, preview);
    await work(context.traceparent, async ({ requests, schedules, outbox }) => {
      const before = await requests.getForUpdate(id);
      // What was looked at is not what is there any more: it is looked at again.
      if (before?.schedule?.scheduledAt !== request.schedule?.scheduledAt) return;
      await schedules.looked(id, touched);
      if (before === undefined || reason === undefined) return;
      const actor = { by: { id: systemCaller.id, name: systemCaller.name }, now: await requests.now() };
      const { request: after, events } = suspend(before, reason, actor);
      if (after !== null) await requests.save(before, after);
      for (const event of events) outbox.event(event);
    });
  };

  /** One that fails is tried again the next time, and keeps nobody else waiting. */
  const each = async <T>(
    items: readonly T[],
    job: (item: T, context: CallContext) => Promise<unknown>,
  ): Promise<void> => {
    for (const item of items) {
      if (stopped) return;
      try {
        await job(item, systemContext(callTimeoutMs));
      } catch (error) {
        // A service that is away for a while is nothing to warn of at each look.
        if (error instanceof Refusal && error.kind === 'ServiceUnavailable') continue;
        warn(
          `The runner of scheduled changes could not process a change request and retries: ${(error as Error).message}`,
        );
      }
    }
  };

  const applyIt =
    <T>(take: (item: T, context: CallContext) => Promise<ChangeRequest | undefined>) =>
    async (item: T, context: CallContext) => {
      const begun = await take(item, context);
      if (begun !== undefined) await apply(begun, context);
    };

  const lookAround = async (): Promise<void> => {
    if ((await agenda.untold()).length > 0) await each([undefined], (_, context) => tellProtection(context));
    await each(await agenda.interrupted(recoveryMs), applyIt(resume));
    await settleDepartures();
    await each(await agenda.touched(), ({ id, project, touched }, context) => look(id, project, touched, context));
    await each(await agenda.due(), applyIt(begin));
  };

  const loop = startLoop({
    name: 'The runner of scheduled changes',
    intervalMs: pollMs,
    warn,
    run: async () => {
      const dueInMs = (await agenda.nextInMs(recoveryMs)) ?? pollMs;
      const inMs = Math.min(dueInMs, departuresAt - performance.now());
      if (inMs > 0) return Math.min(inMs, pollMs);
      await lookAround();
      return intervalMs;
    },
  });

  return {
    wake: loop.wake,
    usersDeleted: () => {
      departuresAt = Number.NEGATIVE_INFINITY;
      loop.wake();
    },
    stop: async () => {
      stopped = true;
      await loop.stop();
    },
  };
};
