import { type Caller, unavailable } from '@bunting/contracts';

/** How long a heavy call waits for its turn. A caller waits for ten seconds for the reply, and the call itself needs some of them. */
const defaultMaxWaitMs = 5_000;

interface WaitingCall {
  readonly caller: string;
  readonly start: () => void;
}

/** Callers by their tokens; users whose sessions act have no token. */
function keyOf({ id, tokenId }: Caller): string {
  return tokenId ?? String(id);
}

/**
 * Runs at most `maxRunning` heavy calls at the same time, so that they leave connections to all others. Further ones wait for their turn, which
 * is first that of callers with the fewest running calls. One caller never has all of the places.
 */
export function heavyCallLimit({
  maxRunning,
  maxWaitMs = defaultMaxWaitMs,
}: {
  readonly maxRunning: number;
  readonly maxWaitMs?: number;
}) {
  const maxOfCaller = Math.max(1, maxRunning - 1);
  const runningOf = new Map<string, number>();
  const waiting = new Set<WaitingCall>();
  let running = 0;
  const countOf = ({ caller }: WaitingCall): number => runningOf.get(caller) ?? 0;

  const startNext = (): void => {
    while (running < maxRunning) {
      let next: WaitingCall | undefined;
      for (const call of waiting) if (countOf(call) < (next === undefined ? maxOfCaller : countOf(next))) next = call;
      if (next === undefined) return;
      waiting.delete(next);
      running++;
      runningOf.set(next.caller, countOf(next) + 1);
      next.start();
    }
  };

  const turn = (caller: string): Promise<void> =>
    new Promise((resolve, reject) => {
      const call: WaitingCall = {
        caller,
        start: () => {
          clearTimeout(timer);
          resolve();
        },
      };
      const timer = setTimeout(() => {
        waiting.delete(call);
        reject(unavailable('The service answers other requests for large parts of its data. Please try again.', 5));
      }, maxWaitMs);
      waiting.add(call);
      startNext();
    });

  return {
    get waiting(): number {
      return waiting.size;
    },
    /** @throws Refusal `ServiceUnavailable` when the call has waited for too long */
    run: async <T>(caller: Caller, handle: () => Promise<T>): Promise<T> => {
      const key = keyOf(caller);
      await turn(key);
      try {
        return await handle();
      } finally {
        running--;
        const left = (runningOf.get(key) ?? 1) - 1;
        if (left === 0) runningOf.delete(key);
        else runningOf.set(key, left);
        startNext();
      }
    },
  };
}
