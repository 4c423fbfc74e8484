import type { Bus, CallContext, CallHandler, CallResponse, CommitCount, OutboxSource, Subscription } from './bus.ts';
import { unknownOutcomeDelayMs } from './deadline.ts';
import { presenceSubject, serviceOfSubject } from './presence.ts';
import { deadlinePassedRefusal, noHandlerRefusal, timeoutRefusal } from './refusals.ts';

function nameOf({ producer, topic }: OutboxSource): string {
  return `${producer} ${topic}`;
}

function commitCount(): CommitCount {
  const counts = new Map<string, { ended: number; running: number }>();
  return {
    begin: (source) => {
      const name = nameOf(source);
      const count = counts.get(name) ?? { ended: 0, running: 0 };
      counts.set(name, count);
      count.running++;
      return () => {
        count.running--;
        count.ended++;
      };
    },
    ended: (source) => {
      const count = counts.get(nameOf(source));
      return count?.running === 0 ? count.ended : undefined;
    },
  };
}

/** The bus within one process. Requests and replies are JSON text as over NATS, so that services never share objects. */
export function inProcessBus(): Bus {
  const responders = new Map<string, CallHandler[]>();
  const wakers = new Map<string, (() => void)[]>();
  /** the number of calls so far: the responders of a subject take calls in turn */
  let calls = 0;
  let isClosed = false;

  const subscriptionOf = <T>(list: T[], item: T): Subscription => ({
    stop: async () => {
      const index = list.indexOf(item);
      if (index >= 0) list.splice(index, 1);
    },
  });

  return {
    call: async (subject: string, request: string, context: CallContext) => {
      const candidates = responders.get(subject) ?? [];
      const responder = candidates[calls++ % Math.max(1, candidates.length)];
      if (isClosed || responder === undefined) {
        const present = responders.get(presenceSubject(serviceOfSubject(subject))) ?? [];
        return noHandlerRefusal(subject, present.length > 0);
      }
      if (context.timeoutMs <= 0) return deadlinePassedRefusal(subject);
      const isWrite = context.repeatable !== true;
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<CallResponse>((resolve) => {
        // A write may commit until its deadline: an unknown outcome is reported when it can no longer change.
        const waitMs = context.timeoutMs + (isWrite ? unknownOutcomeDelayMs : 0);
        timer = setTimeout(() => resolve(timeoutRefusal(subject, { isWrite })), waitMs).unref();
      });
      try {
        // Each call has its own copy of the caller, as over NATS: an idempotent write records the permission checks of its own caller, but
        // not those of the calls that it makes.
        const received = { ...context, caller: { ...context.caller }, callerSignature: 'valid' as const };
        return await Promise.race([responder(request, received), timeout]);
      } finally {
        clearTimeout(timer);
      }
    },

    respond: async (subject, responder) => {
      const list = responders.get(subject) ?? [];
      responders.set(subject, list);
      list.push(responder);
      return subscriptionOf(list, responder);
    },

    publish: undefined,

    notify: (source) => {
      for (const wake of wakers.get(nameOf(source)) ?? []) wake();
    },

    commits: commitCount(),

    subscribe: async (source, wake) => {
      const list = wakers.get(nameOf(source)) ?? [];
      wakers.set(nameOf(source), list);
      list.push(wake);
      return subscriptionOf(list, wake);
    },

    prepareServer: async () => undefined,
    ready: () => {
      if (isClosed) throw new Error('The bus is closed.');
    },

    close: async () => {
      isClosed = true;
      responders.clear();
      wakers.clear();
    },
  };
}
