import { freshDatabase } from '@bunting/testing';
import { type Database, openDatabase } from '@bunting/database';
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { integrationsMigrations } from '../migrations/index.ts';
import { type Claim, deliveryStore, type Round } from './delivery-store.ts';

const count = 12;
const options = { name: 'spec', migrations: integrationsMigrations };
let fresh: Awaited<ReturnType<typeof freshDatabase>>;
let database: Database;
beforeAll(async () => {
  const migrate = async (url: string) => (await openDatabase({ ...options, url })).close();
  fresh = await freshDatabase('integrations', { key: JSON.stringify(integrationsMigrations), migrate });
  database = await openDatabase({ ...options, url: fresh.url });
});
afterAll(async () => {
  await database.close();
  await fresh.drop();
});

const query = <Row>(text: string) => database.query<Row>({ text });
const stored = () =>
  query<{ id: number; position: number; attempts: number }>(
    `select integration_id as id, position, (select count(*)::int from attempt a where a.integration_id = d.integration_id) as attempts
     from destination d order by 1`,
  );

describe('rounds of several destinations that end at the same time', () => {
  let claims: readonly Claim[];
  let statements: number;
  let store: ReturnType<typeof deliveryStore>;
  beforeEach(async () => {
    await query('delete from integration');
    await query(`insert into integration (provider, enabled, parameters, events, projects, environments)
      select 'webhook', true, '{}', '["*"]', '[]', '[]' from generate_series(1, ${count})`);
    await query('insert into destination (integration_id, position) select id, 0 from integration');
    statements = 0;
    store = deliveryStore({
      ...database,
      query: (...args) => {
        statements++;
        return database.query(...args);
      },
    });
    claims = (await store.claim({ position: 5, hash: 'h' }, 60_000, count, [])).toSorted(
      (one, other) => one.integrationId - other.integrationId,
    );
    statements = 0;
  });

  const roundWith = (event: string): Round => ({
    attempts: [{ uid: randomUUID(), state: 'success', stateDetails: '', event, details: '{}' }],
    delivered: [],
    parked: [],
    failedAgain: [],
    position: { position: 5, hash: 'h' },
    failures: 0,
    pauseMs: 0,
    hasRecovered: false,
    isLast: false,
    hasParked: false,
  });

  it('are stored together, by two statements', async () => {
    expect(await Promise.all(claims.map((claim) => store.commit(claim, roundWith('{}'))))).toEqual(
      claims.map(() => true),
    );
    expect(statements).toBeLessThanOrEqual(2);
    expect(await stored()).toEqual(claims.map(({ integrationId: id }) => ({ id, position: 5, attempts: 1 })));
  });

  it('are stored for those alone whose lease is held', async () => {
    const [lost] = claims;
    await query(`update destination set lease = gen_random_uuid() where integration_id = ${lost?.integrationId}`);
    const held = await Promise.all(claims.map((claim) => store.commit(claim, roundWith('{}'))));
    expect(held).toEqual(claims.map((claim) => claim !== lost));
    expect((await stored()).map(({ position, attempts }) => [position, attempts])).toEqual(
      claims.map((claim) => (claim === lost ? [0, 0] : [5, 1])),
    );
  });

  it('are stored while a user has locked the integration of one of them, which is stored afterwards', async () => {
    const [locked, ...others] = claims as [Claim, ...Claim[]];
    const waiting = await database.transaction(async (tx) => {
      await tx.query('select 1 from integration where id = $1 for update', [locked.integrationId]);
      const held = store.commit(locked, roundWith('{}'));
      for (const event of ['{}', '{"again": true}'])
        expect(await Promise.all(others.map((claim) => store.commit(claim, roundWith(event))))).toEqual(
          others.map(() => true),
        );
      return { held };
    });
    expect(await waiting.held).toBe(true);
    expect((await stored()).map(({ attempts }) => attempts)).toEqual(claims.map((claim) => (claim === locked ? 1 : 2)));
  });

  it('are stored although one of them cannot be', async () => {
    const outcomes = await Promise.allSettled(
      claims.map((claim, nth) => store.commit(claim, roundWith(nth === 3 ? 'no JSON' : '{}'))),
    );
    expect(outcomes.map(({ status }) => status)).toEqual(
      claims.map((_, nth) => (nth === 3 ? 'rejected' : 'fulfilled')),
    );
    expect((await stored()).map(({ position }) => position)).toEqual(claims.map((_, nth) => (nth === 3 ? 0 : 5)));
  });
});

it('a claim knows of an event that was parked by the process before while it was made', async () => {
  await query('delete from integration');
  await query(`insert into integration (provider, enabled, parameters, events, projects, environments)
    values ('webhook', true, '{}', '["*"]', '[]', '[]'), ('webhook', true, '{}', '["*"]', '[]', '[]')`);
  await query('insert into destination (integration_id, position) select id, 0 from integration');
  const store = deliveryStore({
    ...database,
    query: async (...args) => {
      const rows = await database.query(...args);
      // What the statement could not see, as what is committed after its snapshot.
      await query(`insert into parked_delivery (integration_id, uid, flag, event, attempts, next_attempt_at)
        select min(id), gen_random_uuid(), 'banner', '{}', 1, now() from integration`);
      return rows as never;
    },
  });
  const claims = await store.claim({ position: 5, hash: 'h' }, 60_000, 2, []);
  expect(
    claims.toSorted((one, other) => one.integrationId - other.integrationId).map(({ hasParked }) => hasParked),
  ).toEqual([true, false]);
});

describe('once the clock of the database is set back, events go on to a destination', () => {
  it.each([
    ['that a process had which died', `lease = gen_random_uuid(), lease_until = now() + interval '1 hour'`],
    ['that rested', `lease = null, lease_until = now() + interval '1 hour'`],
    ['that asked to wait', `paused_until = now() + interval '400 days'`],
  ])('%s', async (_, stored) => {
    await query('delete from integration');
    await query(`insert into integration (provider, enabled, parameters, events, projects, environments)
      values ('webhook', true, '{}', '["*"]', '[]', '[]')`);
    await query('insert into destination (integration_id, position) select id, 0 from integration');
    await query(`update destination set ${stored}`);
    expect(await deliveryStore(database).claim({ position: 5, hash: 'h' }, 60_000, 2, [])).toHaveLength(1);
  });
});
