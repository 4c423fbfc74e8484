import { Histogram, Registry } from 'prom-client';
import { expect, it } from 'vitest';
import { latenciesOf } from './latencies.ts';

it('says of a histogram the count, the average and the 99th percentile in milliseconds, by key', async () => {
  const histogram = new Histogram({
    name: 'seconds',
    help: 'seconds',
    labelNames: ['route', 'status'],
    buckets: [0.1, 0.2, 1],
    registers: [new Registry()],
  });
  for (let nth = 0; nth < 98; nth++) histogram.observe({ route: 'a', status: '200' }, 0.1);
  for (const seconds of [0.2, 0.2]) histogram.observe({ route: 'a', status: '304' }, seconds);
  histogram.observe({ route: 'b', status: '200' }, 5);
  histogram.observe({ route: 'left out', status: '200' }, 5);
  const { values } = await histogram.get();
  expect([...latenciesOf(values, ({ route }) => (route === 'left out' ? undefined : String(route)))]).toEqual([
    ['a', { count: 100, avg: 102, p99: 150 }],
    // Nothing is known beyond the last bound.
    ['b', { count: 1, avg: 5_000, p99: 1_000 }],
  ]);
});
