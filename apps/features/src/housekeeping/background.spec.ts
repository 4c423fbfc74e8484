import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { DeliveryState, OutboxEvent, StateOf } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { addFeatures, freshFeaturesDatabase, startFeatures } from '../../test/started-features.ts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type TestUnitOfWork, testUnitOfWork } from '../../test/features-unit-of-work.ts';
import type { Feature } from '../features/feature.ts';
import { currentFeatureSql } from '../unit-of-work/feature-sql.ts';
import type { Transaction } from '../unit-of-work/unit-of-work.ts';
import { emitDeferredStates, removeDeferredSettings, runHousekeeping } from './background.ts';
import { systemTransactionContext } from '../background.ts';

// Three processes that run housekeeping on one database, like replicas of the service.
const replicas: TestUnitOfWork[] = [];
let drop: () => Promise<void>;
beforeAll(async () => {
  const fresh = await freshFeaturesDatabase();
  drop = () => fresh.drop();
  for (let nth = 0; nth < 3; nth++) replicas.push(await testUnitOfWork(fresh.url));
});
afterAll(async () => {
  for (const { database } of replicas) await database.close();
  await drop();
});

const sql = async <Row>(text: string, values: readonly unknown[] = []): Promise<Row[]> =>
  (await replicas[0]?.database.transaction(({ query }) => query<Row>(text, values))) ?? [];

beforeEach(() => sql("insert into project (id, name) values ('shop', 'shop') on conflict do nothing"));
afterEach(() =>
  sql(
    'truncate feature, outbox, feature_usage_hour, feature_usage_past_hour, feature_usage_day, client_application cascade',
  ),
);

const daysAgo = (days: number): string => new Date(Date.now() - days * 86_400_000).toISOString();
const given = async (...features: readonly Feature[]) => {
  const [replica] = replicas;
  if (replica !== undefined) await addFeatures(replica.database, features);
};
const runHousekeepingEverywhere = () =>
  Promise.all(replicas.map(({ transaction }) => runHousekeeping(transaction, 90)));
const emitted = async <T>(topic: string): Promise<T[]> =>
  (await sql<{ payload: T }>('select payload from outbox where topic = $1 order by id', [topic])).map(
    ({ payload }) => payload,
  );
const events = () => emitted<OutboxEvent>('event');
/** The states of features that were emitted, as consumers get them now. */
const states = () =>
  sql<StateOf<'feature'>>(
    `select state.* from outbox cross join lateral json_to_record((${currentFeatureSql(`payload ->> 'id'`)}))
      as state (id text, version integer, state json) where topic = 'state'`,
  );

const old = (name: string, about: Partial<Feature> = {}) => aFeature({ name, createdAt: daysAgo(41), ...about });

it('emits one event for each feature that has outlived its type, however many processes run housekeeping', async () => {
  const names = Array.from({ length: 40 }, (_, nth) => `old-${nth}`);
  await given(...names.map((name) => old(name, { tags: [{ type: 'simple', value: 'x1' }] })));
  await runHousekeepingEverywhere();
  await runHousekeepingEverywhere();
  const all = await events();
  expect(all.map(({ featureName }) => featureName ?? '').toSorted()).toEqual(names.toSorted());
  expect(all[0]).toMatchObject({
    type: 'feature-potentially-stale-on',
    project: 'shop',
    environment: null,
    data: null,
    preData: null,
    createdBy: 'unleash_system_user',
    createdByUserId: -1337,
    tags: [{ type: 'simple', value: 'x1' }],
  });
});

it('marks no feature that is young, stale, archived, or of a type without lifetime', async () => {
  await given(
    aFeature({ name: 'young', createdAt: daysAgo(39) }),
    old('known', { stale: true }),
    old('gone', { archivedAt: daysAgo(1) }),
    old('switch', { type: 'kill-switch' }),
  );
  await runHousekeepingEverywhere();
  expect(await events()).toEqual([]);
});

it('marks a feature again after its type changed and it outlived the new type', async () => {
  await given(old('checkout'));
  await runHousekeepingEverywhere();
  await sql("update feature set type = 'permission'");
  await runHousekeepingEverywhere();
  await sql("update feature set type = 'release'");
  await runHousekeepingEverywhere();
  expect((await events()).map(({ type }) => type)).toEqual([
    'feature-potentially-stale-on',
    'feature-potentially-stale-on',
  ]);
});

it('emits usage that changed since it was last emitted, and once more when it is an hour old', async () => {
  await given(aFeature({ name: 'busy' }), aFeature({ name: 'idle' }), aFeature({ name: 'over' }));
  await sql(
    "insert into project_environment (project, environment) values ('shop', 'development') on conflict do nothing",
  );
  await sql(
    `with minute as (select floor(extract(epoch from now()) / 60)::integer as now)
    insert into feature_seen (feature, environment, minutes, yes_by_minute, no_by_minute, last_seen_at, emitted_at)
    select 'busy', 'development', array[minute.now - 1], array[5], array[0], now() - interval '1 minute', now() - interval '2 minutes' from minute
    union all select 'idle', 'development', array[minute.now - 9], array[5], array[0], now() - interval '9 minutes', now() - interval '8 minutes' from minute
    union all select 'over', 'development', array[minute.now - 70], array[5], array[0], now() - interval '70 minutes', now() - interval '69 minutes' from minute`,
  );
  await runHousekeepingEverywhere();
  await runHousekeepingEverywhere();
  const figures = (await states()).map(({ id, state }) => [id, state?.environments[0]?.yes]);
  expect(figures.toSorted()).toEqual([
    ['busy', 5],
    ['over', 0],
  ]);
});

it('deletes usage after two days, and usage of deleted features', async () => {
  await given(aFeature({ name: 'checkout' }), aFeature({ name: 'gone' }));
  await sql(
    `insert into feature_usage_hour (feature, environment, app_name, hour, yes, no)
    select name, 'development', 'web', date_trunc('hour', now()) - make_interval(hours => hours), 1, 0
    from unnest(array['checkout', 'gone']) as name, unnest(array[0, 47, 49, 72]) as hours`,
  );
  await sql("delete from feature where name = 'gone'");
  await runHousekeepingEverywhere();
  expect(await sql('select feature from feature_usage_hour')).toEqual([
    { feature: 'checkout' },
    { feature: 'checkout' },
  ]);
});

it('keeps the usage of before two days as sums by hour, and by day and application, counting everything once', async () => {
  await given(aFeature({ name: 'checkout' }));
  await sql(
    `insert into feature_usage_hour (feature, environment, app_name, hour, yes, no, variants)
    select 'checkout', 'development', app, date_trunc('day', now(), 'UTC') - make_interval(hours => hours), 2, 1, '{"blue": 2}'
    from unnest(array['web', 'shop']) as app, unnest(array[71, 72, 73]) as hours`,
  );
  await runHousekeepingEverywhere();
  // A late count of an hour that was moved already.
  await sql(
    `insert into feature_usage_hour (feature, environment, app_name, hour, yes, no, variants)
    values ('checkout', 'development', 'web', date_trunc('day', now(), 'UTC') - interval '72 hours', 5, 0, '{"red": 5}')`,
  );
  await runHousekeepingEverywhere();
  expect(await sql('select 1 from feature_usage_hour')).toEqual([]);
  expect(await sql('select yes::int, no::int, variants from feature_usage_past_hour order by hour')).toEqual([
    { yes: 4, no: 2, variants: { blue: 4 } },
    { yes: 9, no: 2, variants: { blue: 4, red: 5 } },
    { yes: 4, no: 2, variants: { blue: 4 } },
  ]);
  expect(
    await sql('select app_name, yes::int, no::int, variants from feature_usage_day order by day, app_name'),
  ).toEqual([
    { app_name: 'shop', yes: 2, no: 1, variants: { blue: 2 } },
    { app_name: 'web', yes: 2, no: 1, variants: { blue: 2 } },
    { app_name: 'shop', yes: 4, no: 2, variants: { blue: 4 } },
    { app_name: 'web', yes: 9, no: 2, variants: { blue: 4, red: 5 } },
  ]);
  await sql("delete from feature where name = 'checkout'");
  expect(await sql('select 1 from feature_usage_past_hour union all select 1 from feature_usage_day')).toEqual([]);
});

it('deletes sums by hour after 30 days, and sums by day after 400', async () => {
  await given(aFeature({ name: 'checkout' }));
  await sql(
    `insert into feature_usage_past_hour (feature, environment, hour, yes, no)
    select 'checkout', 'development', now() - make_interval(days => days), 1, 0 from unnest(array[29, 31, 40]) as days`,
  );
  await sql(
    `insert into feature_usage_day (feature, environment, app_name, day, yes, no)
    select 'checkout', 'development', 'web', (now() at time zone 'UTC')::date - days, 1, 0 from unnest(array[400, 401, 500]) as days`,
  );
  await runHousekeepingEverywhere();
  expect(await sql('select 1 as one from feature_usage_past_hour')).toHaveLength(1);
  expect(await sql('select 1 as one from feature_usage_day')).toHaveLength(1);
});

it('deletes applications without report for the configured number of days', async () => {
  const seen = { current: daysAgo(89), unseen: daysAgo(91) };
  for (const [name, lastSeenAt] of Object.entries(seen)) {
    await sql('insert into client_application (app_name, created_at, last_seen_at) values ($1, $2, $2)', [
      name,
      lastSeenAt,
    ]);
  }
  await runHousekeepingEverywhere();
  expect(await sql('select app_name from client_application')).toEqual([{ app_name: 'current' }]);
});

it('the service runs housekeeping at its interval', async () => {
  const features = await startFeatures({ FEATURES_HOUSEKEEPING_INTERVAL_MS: '20' });
  try {
    for (const name of ['first', 'second']) {
      await features.given(old(name, { project: 'default' }));
      await eventually(async () => {
        expect((await features.emittedEvents()).map(({ featureName }) => featureName)).toContain(name);
      });
    }
  } finally {
    await features.stop();
  }
});

it('emits each of the states that a write defers once, however many processes emit them', async () => {
  const names = Array.from({ length: 1_300 }, (_, nth) => `many-${String(nth).padStart(4, '0')}`);
  await given(...names.map((name) => aFeature({ name })));
  const [replica] = replicas;
  if (replica === undefined) throw new Error('No replica runs.');
  await replica.transaction(systemTransactionContext(), ({ features }) => features.emitStates(names));
  const emittedNames = async () => (await states()).map(({ id }) => id).toSorted();
  expect(await emittedNames()).toEqual(names.slice(0, 500));
  await Promise.all(replicas.map(({ transaction }) => emitDeferredStates(transaction)));
  expect(await emittedNames()).toEqual(names);
  const last = (await states()).find(({ id }) => id === 'many-1298');
  expect(last).toMatchObject({ version: 2, state: { name: 'many-1298' } });
});

it('removes the settings of many features in a lost environment in the background, also of those cloned meanwhile', async () => {
  const [replica] = replicas;
  if (replica === undefined) throw new Error('No replica runs.');
  const inTransaction = <T>(job: (tx: Transaction) => Promise<T>) =>
    replica.transaction(systemTransactionContext(), job);
  const settings = () => ({ enabled: false, strategies: [aStrategy()], variants: [] });
  const names = Array.from({ length: 1_300 }, (_, nth) => `many-${String(nth).padStart(4, '0')}`);
  await given(
    ...names.map((name) => aFeature({ name, environments: { lost: settings(), kept: settings() } })),
    aFeature({ name: 'without', environments: { kept: settings() } }),
  );
  const left = () => sql<{ name: string }>("select name from feature where environments ? 'lost' order by name");
  const isPending = () => inTransaction(({ features }) => features.hasSettingsToRemove(['shop'], 'lost'));

  await inTransaction(({ features }) => features.removeSettings(['shop'], 'lost', () => []));
  expect(await left()).toHaveLength(1_300);
  expect(await isPending()).toBe(true);

  // The first batch is done, and a clone of a later feature has a name among those of the first batch.
  await inTransaction(({ features }) => features.removeDeferredSettings(500));
  expect((await left()).map(({ name }) => name)).toEqual(names.slice(500));
  await inTransaction(async ({ features }) => {
    const [source] = await features.findAllForUpdate(['many-0700']);
    if (source === undefined) throw new Error('The source is missing.');
    await features.addClone(source, { ...source, name: 'early' }, []);
  });
  await Promise.all(replicas.map(({ transaction }) => removeDeferredSettings(transaction)));
  expect(await left()).toEqual([]);
  expect(await isPending()).toBe(false);
  const kept = await sql(`select from feature where environments ? 'kept' and cardinality(strategy_ids) = 1`);
  expect(kept).toHaveLength(1_302);

  await Promise.all(replicas.map(({ transaction }) => emitDeferredStates(transaction)));
  const delivered = await emitted<DeliveryState>('delivery');
  const last = new Map(delivered.map(({ id, state }) => [id, state]));
  for (const name of [...names, 'early'])
    expect(last.get(name)).toMatchObject({ environments: { kept: { enabled: false } } });
  expect(JSON.stringify([...last.values()])).not.toContain('"lost"');
  expect(new Set((await states()).map(({ id }) => id))).toEqual(new Set([...names, 'early', 'without']));
});
