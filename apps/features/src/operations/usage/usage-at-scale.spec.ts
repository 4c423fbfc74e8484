import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { call, inProcessBus, serve, type Subscription } from '@bunting/bus';
import { type MetricsBody, ReportMetrics } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { startTelling } from '@bunting/outbox';
import { aFeature } from '../../../test/builders.ts';
import { contextOf, freshFeaturesDatabase, someoneWho } from '../../../test/started-features.ts';
import { entities } from '../../persistence/entities.ts';
import { featureRepository } from '../../persistence/feature-repository.ts';
import { steps } from '../../persistence/migrations/index.ts';
import { readersOf } from '../../persistence/readers.ts';
import { unitOfWork } from '../../persistence/unit-of-work.ts';
import { featuresEndpoints } from '../index.ts';

// The service without its relay, whose statements would be counted as well.
const bus = inProcessBus();
const count = 10_000;
let database: Database;
let served: Subscription;
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshFeaturesDatabase();
  drop = () => fresh.drop();
  database = await openDatabase({ url: fresh.url, name: 'spec', steps, entities });
  const telling = startTelling({
    ...{ producer: 'features', database, bus, intervalMs: 60_000, retentionHours: 1 },
    warn: () => undefined,
  });
  await telling.relay.stop();
  served = await serve(bus, featuresEndpoints(unitOfWork(telling), readersOf(database), bus));
  const flags = Array.from({ length: count }, (_, nth) => aFeature({ name: `flag-${nth}`, project: 'default' }));
  await database.transaction((tx) =>
    featureRepository(tx, { event: () => undefined, state: () => undefined }).add(flags),
  );
}, 60_000);
afterAll(async () => {
  await served.stop();
  await database.close();
  await drop();
});

const report = async (flags: number): Promise<number> => {
  const stop = new Date().toISOString();
  const toggles: MetricsBody['bucket']['toggles'] = {};
  for (let nth = 0; nth < flags; nth++) toggles[`flag-${nth}`] = { yes: 1, no: 2, variants: { red: 1 } };
  const before = database.statements;
  const caller = someoneWho({ permission: 'CLIENT', environment: 'development' });
  const body = { appName: 'web', bucket: { start: stop, stop, toggles } };
  await call(bus, ReportMetrics, { body }, contextOf(caller, 60_000));
  return database.statements - before;
};

it('takes as many statements for ten thousand flags as for one, the first time and later', async () => {
  const [first, later] = [await report(count), await report(count)];
  expect(first).toBeLessThanOrEqual(14);
  expect(later).toBeLessThanOrEqual(first);
  expect(await report(1)).toBe(later);
  const [sum] = await database.transaction(({ query }) =>
    query<{ yes: number; live: number }>(
      `select sum(yes)::bigint as yes, (select count(*) from feature where lifecycle @> '[{"stage": "pre-live"}]') as live
      from feature_usage_hour`,
    ),
  );
  expect(sum).toEqual({ yes: 2 * count + 1, live: count });
}, 60_000);
