import { eventually } from '@bunting/testing';
import { measureConsole } from '../../../apps/console/test/support/measure-console.ts';
import type { ServerUnderTest } from '../../server-under-test.ts';
import { benchFlag } from '../generated-flags.ts';
import { type BenchOptions, seedFlags, send, withServers } from '../run.ts';

const typedWords = 12;
const navigations = 300;

/** Measures the console in Chromium: the first rows, a key to its rows, scrolling, and the memory after some hundred navigations. */
export function benchConsole({ features: flags = 100_000 }: BenchOptions): Promise<unknown> {
  return withServers({ urls: [], token: '' }, async ([server]) => {
    await seedFlags(server, { count: flags });
    await waitUntilProjected(server, benchFlag(flags - 1).name);
    // Alternately the name of a flag, and the digits at the end of a name: each key narrows the list.
    const words = Array.from({ length: typedWords }, (_one, nth) => {
      const { name } = benchFlag((nth * 7919) % flags);
      return nth % 2 === 0 ? name : name.slice(-6);
    });
    const { url, token } = server;
    const figures = await measureConsole({ url, token, words, uses: navigations });
    const { firstRowsMs, keyToRowsMs, framesPerSecond, cpuMs, tenLettersCpuMs, heapMb } = figures;
    console.log(`The console with ${flags} flags

| measured | figure | to reach |
| --- | ---: | ---: |
| first flags on the screen, empty cache, median (worst) | ${firstRowsMs.median} ms (${firstRowsMs.worst} ms) | 1,000 ms |
| key to rows, p95 (median, worst) | ${keyToRowsMs.p95} ms (${keyToRowsMs.median} ms, ${keyToRowsMs.worst} ms) | 100 ms |
| frames per second while scrolling, mean (worst half second) | ${framesPerSecond.mean} (${framesPerSecond.worst}) | 50 |
| CPU of the page for a key in the filter, and for a frame while scrolling | ${cpuMs.aKey} ms, ${cpuMs.aFrame} ms | |
| CPU of the page for ten letters in a strategy with 30 × 250 values, in the slowest field (${tenLettersCpuMs.field}) | ${tenLettersCpuMs.ms} ms | 500 ms |
| heap after ${navigations} navigations and searches (first page) | ${heapMb.afterUse} MB (${heapMb.first} MB) | 150 MB |`);
    return figures;
  });
}

/** Waits until search and the event log have the last flag that was seeded. A page that is opened earlier would wait for them. */
function waitUntilProjected(server: ServerUnderTest, feature: string): Promise<void> {
  return eventually(
    async () => {
      for (const path of [`features?query=${feature}`, `events?feature=IS:${feature}`]) {
        const { total = 0 } = (await send<{ total?: number }>(server, 'GET', `/api/admin/search/${path}`)).reply;
        if (total === 0) throw new Error(`${path} finds nothing yet.`);
      }
    },
    { timeoutMs: 300_000 },
  );
}
