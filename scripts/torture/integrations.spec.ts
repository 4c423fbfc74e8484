import { temporaryFolder } from '@bunting/testing';
import { afterAll, expect, it } from 'vitest';
import { tortureIntegrations } from './integrations.ts';

const folder = temporaryFolder(`bunting-integrations-torture-${process.pid}`);
afterAll(() => folder.remove());

/** Those that concern deliveries and signals most; `npm run torture -- --integrations` injects more. */
const faults = [
  'integrations killed -9',
  'integrations frozen for longer than its lease',
  'a destination away',
  'the database of integrations restored to an older copy',
];

it('every event reaches all destinations, in order for each flag and with one id, and every signal is acted on once, while processes are killed, frozen and restored and destinations fail', async () => {
  const report = await tortureIntegrations({
    folder: folder.path,
    seed: 7,
    events: 100,
    troubledShare: 0.25,
    // Several retries, which are a second apart.
    outageMs: 4_000,
    faults,
  });
  expect(report.violations).toEqual([]);
  expect(report.events).toBeGreaterThanOrEqual(100);
  expect(report.acted).toBeGreaterThan(5);
  // The faults were there.
  expect(Object.keys(report.faults).toSorted()).toEqual(faults.toSorted());
  expect(Object.entries(report.troubles).filter(([, count]) => count === 0)).toEqual([]);
}, 400_000);
