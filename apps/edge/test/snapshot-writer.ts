import { openLog } from '@bunting/runtime';
import { Registry } from 'prom-client';
import { OriginFeature } from '../src/origin-feature.ts';
import { openSnapshots } from '../src/snapshots/snapshots.ts';
import { listsOfTest } from './lists-of-test.ts';
import { flag } from './simulated-origin.ts';

/** Writes states with rising revisions into the folder of its arguments, and prints each revision once it is written, until it is killed. */
const [folder = '', first = '1'] = process.argv.slice(2);
const snapshots = openSnapshots({
  folder,
  lists: listsOfTest(),
  log: openLog('warn'),
  metrics: new Registry(),
  minIntervalMs: 0,
});
for (let revision = Number(first); ; revision++) {
  await snapshots.write({
    token: 'default:development.0123456789abcdef',
    environment: 'development',
    projects: ['*'],
    revision,
    historyFrom: 0,
    entityTag: null,
    features: [new OriginFeature(flag('one', 'x'.repeat(100_000)) as never)],
    segments: [],
    fetchedAt: new Date(),
  });
  process.stdout.write(`${revision}\n`);
}
