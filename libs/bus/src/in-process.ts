import { unavailable } from '@bunting/contracts';
import type { Answer, Bus, CallContext, Responder, Subscription } from './bus.ts';
import { settlingMs } from './deadline.ts';
import { presenceSubject, serviceOfSubject, unserved } from './presence.ts';
import { refusedWith } from './refused.ts';

interface Consumer {
  readonly source: string;
  readonly name: string;
  readonly deliver: (payload: string) => Promise<void>;
}

/**
 * The bus within one process. Requests, replies and facts are text here too, so that nobody shares an object with anybody
 * and no service can tell whether it has the process to itself.
 */
export const inProcessBus = (): Bus => {
  const responders = new Map<string, Responder[]>();
  const consumers: Consumer[] = [];
  let turn = 0;
  let closed = false;

  const removable = <T>(list: T[], item: T): Subscription => ({
    stop: async () => {
      const at = list.indexOf(item);
      if (at >= 0) list.splice(at, 1);
    },
  });

  return {
    call: async (subject: string, request: string, context: CallContext) => {
      const candidates = responders.get(subject) ?? [];
      const responder = candidates[turn++ % Math.max(1, candidates.length)];
      if (closed || responder === undefined) {
        const present = responders.get(presenceSubject(serviceOfSubject(subject))) ?? [];
        return unserved(subject, present.length > 0);
      }
      if (context.timeoutMs <= 0)
        return { refused: refusedWith(unavailable(`${subject} was not called: its time is up.`)) };
      let timer: NodeJS.Timeout | undefined;
      const late = new Promise<Answer>((resolve) => {
        const why = `${subject} did not answer in time. Please try again.`;
        // The service may use all of the time: an outcome that is unknown is reported once it cannot change any more.
        const waitMs = context.timeoutMs + (context.repeatable === true ? 0 : settlingMs);
        timer = setTimeout(() => resolve({ refused: refusedWith(unavailable(why)) }), waitMs).unref();
      });
      try {
        return await Promise.race([responder(request, context), late]);
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

    publish: async (facts) => {
      if (closed) throw new Error('The bus is closed.');
      for (const fact of facts) {
        const [topic, producer] = fact.subject.split('.');
        const names = new Set<string>();
        for (const consumer of consumers) {
          if (consumer.source !== `${topic}.${producer}` || names.has(consumer.name)) continue;
          names.add(consumer.name);
          // A consumer that fails has lost the fact: it finds the gap and asks the producer, as it would after a loss of NATS.
          consumer.deliver(fact.payload).catch(() => undefined);
        }
      }
    },

    subscribe: async ({ producer, topic }, name, deliver) => {
      const consumer = { source: `${topic}.${producer}`, name, deliver };
      consumers.push(consumer);
      return removable(consumers, consumer);
    },

    ready: () => {
      if (closed) throw new Error('The bus is closed.');
    },

    close: async () => {
      closed = true;
      responders.clear();
      consumers.length = 0;
    },
  };
};
