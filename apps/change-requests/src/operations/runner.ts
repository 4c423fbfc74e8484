import { type Bus, type CallContext, systemContext } from '@bunting/bus';
import { Refusal, systemCaller } from '@bunting/contracts';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ChangeRequest } from '../domain/change-request.ts';
import { abandonApplying, beginApplying, suspend } from '../domain/move.ts';
import { suspensionOf } from '../domain/suspension.ts';
import type { Agenda } from '../persistence/agenda.ts';
import type { ChangeRequestReader } from '../persistence/change-request-repository.ts';
import type { UnitOfWork } from '../persistence/unit-of-work.ts';
import type { Apply } from './apply.ts';
import { previewsOf } from './outlooks.ts';
import type { TellProtection } from './tell-protection.ts';

export interface RunnerOptions {
  readonly bus: Bus;
  readonly agenda: Agenda;
  readonly reader: ChangeRequestReader;
  readonly work: UnitOfWork;
  readonly apply: Apply;
  readonly tellProtection: TellProtection;
  readonly intervalMs: number;
  readonly recoveryMs: number;
  readonly warn: (message: string) => void;
}

export interface Runner {
  /** Looks at once, and not only after the interval. */
  wake(): void;
  stop(): Promise<void>;
}

/** What comes later than this is not applied any more: a release of the night should not come at noon. */
const mostLateMs = 15 * 60_000;
const callMs = 30_000;

const clock = { author: false, admin: false, reviewer: false, applier: false, system: true } as const;

/**
 * Does what nobody waits for: applies requests whose time has come, holds up those that collide with newer edits, and ends
 * what a process that was killed had begun. Every replica does; the database sees to it that each request is taken once.
 */
export const startRunner = ({
  bus,
  agenda,
  reader,
  work,
  apply,
  tellProtection,
  intervalMs,
  recoveryMs,
  warn,
}: RunnerOptions): Runner => {
  let stopped = false;
  let waiting = new AbortController();

  /** Decides to run a request whose time has come; one that is far too late fails. */
  const begin = (id: number, { traceparent }: CallContext): Promise<ChangeRequest | undefined> =>
    work(traceparent, async ({ requests, schedules, outbox }) => {
      const late = await schedules.claimDue(id);
      const request = late === undefined ? undefined : await requests.getForUpdate(id);
      if (late === undefined || request?.schedule === undefined || request.schedule === null) return undefined;
      const now = await requests.now();
      const asker = { by: request.schedule.by, now, roles: clock };
      try {
        const begun = beginApplying(request, 'run', asker);
        if (late <= mostLateMs) {
          await requests.save(request, begun);
          return begun;
        }
        const reason = 'the service was not running at the scheduled time';
        const { request: after, events } = abandonApplying(begun, now, { command: 'fail', reason });
        if (after !== null) await requests.save(request, after);
        for (const event of events) outbox.event(event);
      } catch (error) {
        if (!(error instanceof Refusal)) throw error;
        const { request: after, events } = suspend(request, error.message, { by: request.schedule.by, now });
        if (after !== null) await requests.save(request, after);
        for (const event of events) outbox.event(event);
      }
      return undefined;
    });

  /** Takes up what was begun and did not end. */
  const resume = async (id: number, { traceparent }: CallContext): Promise<ChangeRequest | undefined> =>
    work(traceparent, async ({ requests }) => {
      const request = await requests.getForUpdate(id);
      return request?.applying === null ? undefined : request;
    });

  const look = async (id: number, project: string, touched: number, context: CallContext): Promise<void> => {
    const request = await reader.one(id, project);
    if (request === undefined || request.schedule === null) return;
    const { preview } = (await previewsOf(bus, project, [request], false, context)).get(id) ?? {};
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
        await job(item, systemContext(callMs));
      } catch (error) {
        // A service that is away for a while is nothing to warn of at each look.
        if (error instanceof Refusal && error.kind === 'ServiceUnavailable') continue;
        warn(`A change request could not be applied or looked at now: ${(error as Error).message}`);
      }
    }
  };

  const applyIt = (take: typeof begin) => async (id: number, context: CallContext) => {
    const begun = await take(id, context);
    if (begun !== undefined) await apply(begun, context);
  };

  const lookAround = async (): Promise<void> => {
    if ((await agenda.untold()).length > 0) await each([undefined], (_, context) => tellProtection(context));
    await each(await agenda.interrupted(recoveryMs), applyIt(resume));
    await each(await agenda.touched(), ({ id, project, touched }, context) => look(id, project, touched, context));
    await each(await agenda.due(), applyIt(begin));
  };

  const run = async (): Promise<void> => {
    while (!stopped) {
      await lookAround().catch((error: Error) => warn(`Schedules could not be read: ${error.message}`));
      await sleep(intervalMs, undefined, { signal: waiting.signal, ref: false }).catch(() => undefined);
      waiting = new AbortController();
    }
  };
  const running = run();

  return {
    wake: () => waiting.abort(),
    stop: async () => {
      stopped = true;
      waiting.abort();
      await running;
    },
  };
};
