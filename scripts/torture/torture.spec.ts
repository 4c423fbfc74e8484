import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { chanceFrom } from './chance.ts';
import { faults } from './faults.ts';
import { torture } from './torture.ts';

/** Of every kind of fault one, at the service where it means most; `npm run torture` has them all. */
const kinds = faults.filter(
  ({ name, to }) =>
    ['servers', 'wires', 'everything'].includes(to) ||
    name.startsWith('features killed -9:') ||
    [
      'gateway killed -9',
      'change-requests killed -9: before COMMIT',
      'change-requests killed -9: after COMMIT, before the answer',
      'audit killed -9: applied, not acknowledged',
      'search killed -9: applied, not acknowledged',
    ].includes(name),
);

const folder = mkdtempSync(path.join(tmpdir(), 'bunting-torture-spec-'));
afterAll(() => rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }));

it('loses, doubles and disorders nothing, whatever is killed, cut off, deleted or shuffled, and whenever', async () => {
  const scale = { features: 2, 'change-requests': 1, audit: 1, search: 1, gateway: 2 };
  const { strikes, violations, acknowledged } = await torture({
    seed: 20_261_121,
    minutes: 0.1,
    folder,
    writers: 3,
    scale,
    kinds,
    together: true,
  });
  expect(violations).toEqual([]);
  expect(strikes.filter(({ struck }) => struck === 0)).toEqual([]);
  expect(acknowledged).toBeGreaterThan(30);
}, 400_000);

it('draws the same from the same seed, and something else for everybody', () => {
  const drawn = (seed: number, name: string) => {
    const chance = chanceFrom(seed).for(name);
    return [chance.fraction(), chance.whole(1, 6), ...chance.shuffled([1, 2, 3, 4, 5])];
  };
  expect(drawn(7, 'faults')).toEqual(drawn(7, 'faults'));
  expect(drawn(7, 'faults')).not.toEqual(drawn(8, 'faults'));
  expect(drawn(7, 'faults')).not.toEqual(drawn(7, 'w1'));
  expect(chanceFrom(1).shuffled([3, 1, 2]).toSorted()).toEqual([1, 2, 3]);
});
