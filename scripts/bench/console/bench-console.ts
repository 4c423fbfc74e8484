import { eventually } from '@bunting/testing';
import { type ConsoleFigures, measureConsole } from '../../../apps/console/test/support/measure-console.ts';
import { benchFlag } from '../generated-flags.ts';
import { seedFlags } from '../http/seed-flags.ts';
import { startServerUnderTest, type ServerUnderTest } from '../http/server-under-test.ts';

interface ConsoleBenchOptions {
  /** how many flags to seed */
  readonly flags: number;
}

/** Waits until search and the event log have the last flag that was seeded. A page that is opened earlier would wait for them. */
const waitUntilProjected = async ({ url, token }: ServerUnderTest, feature: string): Promise<void> => {
  const totalOf = async (path: string): Promise<number> => {
    const response = await fetch(`${url}/api/admin/search/${path}`, { headers: { authorization: token } });
    return ((await response.json()) as { total?: number }).total ?? 0;
  };
  await eventually(
    async () => {
      for (const path of [`features?query=${feature}`, `events?feature=IS:${feature}`]) {
        if ((await totalOf(path)) === 0) throw new Error(`${path} finds nothing yet.`);
      }
    },
    { timeoutMs: 300_000 },
  );
};

const typedWords = 12;
const navigations = 300;

/** Measures the console in Chromium: the first rows, a key to its rows, scrolling, and the memory after some hundred navigations. */
export const benchConsole = async ({ flags }: ConsoleBenchOptions): Promise<ConsoleFigures> => {
  const target = await startServerUnderTest({ GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: '0' });
  try {
    await seedFlags(target, { count: flags, how: 'import' }, (done) =>
      process.stderr.write(`\r${done} of ${flags} flags`),
    );
    process.stderr.write('\r');
    await waitUntilProjected(target, benchFlag(flags - 1).name);
    // Alternately the name of a flag, and the digits at the end of a name: each key narrows the list.
    const words = Array.from({ length: typedWords }, (_one, nth) => {
      const { name } = benchFlag((nth * 7919) % flags);
      return nth % 2 === 0 ? name : name.slice(-6);
    });
    const { url, token } = target;
    const figures = await measureConsole({ url, token, words, uses: navigations });
    const { firstRowsMs, keyToRowsMs, framesPerSecond, heapMb } = figures;
    console.log(`The console with ${flags} flags

| measured | figure | to reach |
| --- | ---: | ---: |
| first flags on the screen, empty cache, median (worst) | ${firstRowsMs.median} ms (${firstRowsMs.worst} ms) | 1,000 ms |
| key to rows, p95 (median, worst) | ${keyToRowsMs.p95} ms (${keyToRowsMs.median} ms, ${keyToRowsMs.worst} ms) | 100 ms |
| frames per second while scrolling, mean (worst half second) | ${framesPerSecond.mean} (${framesPerSecond.worst}) | 50 |
| heap after ${navigations} navigations and searches (first page) | ${heapMb.afterUse} MB (${heapMb.first} MB) | 150 MB |`);
    return figures;
  } finally {
    await target.stop();
  }
};
