import type { CallResponse, Bus, CallContext, OutboxSource, CallHandler, Subscription } from './bus.ts';
import { unknownOutcomeDelayMs } from './deadline.ts';
import { deadlinePassedResponse, noHandlerResponse, timeoutResponse } from './no-response-refusals.ts';
import { presenceSubject, serviceOfSubject } from './presence.ts';

/** The bus within one process. Requests and replies are JSON text as over NATS, so that services never share objects. */
export const inProcessBus = (): Bus => {
  const responders = new Map<string, CallHandler[]>();
  const wakers = new Map<string, (() => void)[]>();
  const nameOf = ({ producer, topic }: OutboxSource): string => `${producer} ${topic}`;
  let turn = 0;
  let closed = false;

  const removable = <T>(list: T[], item: T): Subscription => ({
    stop: async () => {
      const index = list.indexOf(item);
      if (index >= 0) list.splice(index, 1);
    },
  });

  return {
    call: async (subject: string, request: string, context: CallContext) => {
      const candidates = responders.get(subject) ?? [];
      const responder = candidates[turn++ % Math.max(1, candidates.length)];
      if (closed || responder === undefined) {
        const present = responders.get(presenceSubject(serviceOfSubject(subject))) ?? [];
        return noHandlerResponse(subject, present.length > 0);
      }
      if (context.timeoutMs <= 0) return deadlinePassedResponse(subject);
      const isWrite = context.repeatable !== true;
      let timer: NodeJS.Timeout | undefined;
      const timeout = new Promise<CallResponse>((resolve) => {
        // A write may commit until its deadline: an unknown outcome is reported when it can no longer change.
        const waitMs = context.timeoutMs + (isWrite ? unknownOutcomeDelayMs : 0);
        timer = setTimeout(() => resolve(timeoutResponse(subject, { isWrite })), waitMs).unref();
      });
      try {
        // A copy, as over NATS: an idempotent write records what is checked on its own caller, not on that of calls that it makes.
        const received = { ...context, caller: { ...context.caller } };
        return await Promise.race([responder(request, received), timeout]);
      } finally {
        clearTimeout(timer);
      }
    },

    respond: async (subject, responder) => {
      const list = responders.get(subject) ?? [];
      responders.set(subject, list);
      list.push(responder);
      return removable(list, responder);
    },

    publish: undefined,

    notify: (source) => {
      for (const wake of wakers.get(nameOf(source)) ?? []) wake();
    },

    subscribe: async (source, wake) => {
      const list = wakers.get(nameOf(source)) ?? [];
      wakers.set(nameOf(source), list);
      list.push(wake);
      return removable(list, wake);
    },

    checkServer: async () => undefined,
    ready: () => {
      if (closed) throw new Error('The bus is closed.');
    },

    close: async () => {
      closed = true;
      responders.clear();
      wakers.clear();
    },
  };
};
