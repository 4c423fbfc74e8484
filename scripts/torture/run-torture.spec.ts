import { temporaryFolder } from '@bunting/testing';
import { afterAll, expect, it } from 'vitest';
import { seededRandom } from './seeded-random.ts';
import { faults } from './faults.ts';
import { runTorture } from './run-torture.ts';

/** One fault of every kind, at the service that it affects most; `npm run torture` injects all of them. */
const kinds = faults.filter(({ name }) =>
  [
    'gateway killed -9',
    'features killed -9: state written, events not',
    'features killed -9: COMMIT sent, no response',
    'features killed -9: after COMMIT, before the reply',
    'features killed -9: published, not marked',
    'change-requests killed -9: before COMMIT',
    'audit killed -9: applied, not acknowledged',
    'search killed -9: applied, not acknowledged',
    'nats-server killed -9',
    'NATS storage deleted',
    'deliveries duplicated and reordered',
    'PostgreSQL crashed',
    'PostgreSQL read-only, on and off',
    'a process cut off from NATS',
    "a process's connections to PostgreSQL lost without a sign",
    'all processes and servers killed -9 together',
  ].includes(name),
);

const folder = temporaryFolder(`bunting-torture-spec-${process.pid}`);
afterAll(() => folder.remove());

it('no write is lost, duplicated or reordered while processes are killed, disconnected and restored', async () => {
  const scale = { features: 2, 'change-requests': 1, audit: 1, search: 1, integrations: 1, gateway: 2 };
  const {
    faults: results,
    violations,
    acknowledged,
  } = await runTorture({
    seed: 20_261_121,
    // Each fault once, or until it takes effect: those of a process that is restarted sooner are not repeated until the others are over.
    minutes: 0,
    folder: folder.path,
    writers: 3,
    // Writes as fast as they can be take more than the faults do, and find no more.
    maxPauseMs: 300,
    scale,
    faults: kinds,
    concurrent: true,
  });
  expect(violations).toEqual([]);
  expect(results.filter(({ injected }) => injected === 0)).toEqual([]);
  expect(acknowledged).toBeGreaterThan(30);
}, 400_000);

it('derives the same random numbers from the same seed, and different ones for each name', () => {
  const drawn = (seed: number, name: string) => {
    const random = seededRandom(seed).derive(name);
    return [random.fraction(), random.integer(1, 6), ...random.shuffled([1, 2, 3, 4, 5])];
  };
  expect(drawn(7, 'faults')).toEqual(drawn(7, 'faults'));
  expect(drawn(7, 'faults')).not.toEqual(drawn(8, 'faults'));
  expect(drawn(7, 'faults')).not.toEqual(drawn(7, 'w1'));
  expect(seededRandom(1).shuffled([3, 1, 2]).toSorted()).toEqual([1, 2, 3]);
});
