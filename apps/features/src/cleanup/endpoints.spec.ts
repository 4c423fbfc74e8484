import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Caller,
  type CleanupReason,
  CountCleanupFeatures,
  CreateProject,
  DeleteFeatures,
  ListCleanupFeatures,
  ListUnknownFlags,
  type MetricsBody,
  ReportMetrics,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { unknownFlagsReader } from './cleanup-store.ts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { rowsRead } from '../../test/features-unit-of-work.ts';
import { callerWith, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
const sql = (text: string, values: readonly unknown[] = []) =>
  features.database.transaction(({ query }) => query(text, [...values]));
const client = (environment: string, project?: string): Caller =>
  callerWith({ permission: 'CLIENT', environment, ...(project === undefined ? {} : { project }) });
const report = (environment: string, toggles: MetricsBody['bucket']['toggles'], project?: string, appName = 'web') => {
  const stop = new Date().toISOString();
  return features.call(
    ReportMetrics,
    { body: { appName, bucket: { start: stop, stop, toggles } } },
    client(environment, project),
  );
};
/** Sets the times of the usage of a feature that was reported just now. */
const usedDaysAgo = (feature: string, days: number) =>
  sql(
    `update feature_seen set last_seen_at = last_seen_at - make_interval(days => $2), last_yes_at = last_yes_at - make_interval(days => $2),
      last_no_at = last_no_at - make_interval(days => $2) where feature = $1`,
    [feature, days],
  );

const isLocked =
  "select from pg_locks where relation = 'client_missing_feature'::regclass and mode = 'AccessExclusiveLock' and granted";

const forAllUsers = { enabled: true, strategies: [aStrategy()], variants: [] };
const none = { enabled: false, strategies: [], variants: [] };
const inProduction = (production: object) => ({
  environments: { development: none, production: production as typeof none },
});
const now = new Date().toISOString();
const variant = (name: string) => ({ name, weight: 500, weightType: 'variable' as const, stickiness: 'default' });

beforeAll(async () => {
  features = await startFeatures();
  for (const id of ['shop', 'vault']) await features.call(CreateProject, { body: { id, name: id } });
  const half = aStrategy({ name: 'flexibleRollout', parameters: { rollout: '50' } });
  await features.given(
    aFeature({ name: 'all-users', ...inProduction(forAllUsers) }),
    aFeature({ name: 'all-users-lately', ...inProduction(forAllUsers) }),
    aFeature({ name: 'all-users-refused', ...inProduction(forAllUsers) }),
    aFeature({
      name: 'all-users-with-two-variants',
      ...inProduction({ ...forAllUsers, variants: [variant('a'), variant('b')] }),
    }),
    aFeature({
      name: 'all-users-with-parent',
      ...inProduction(forAllUsers),
      dependencies: [{ feature: 'half', enabled: true, variants: [] }],
    }),
    aFeature({ name: 'half', ...inProduction({ ...forAllUsers, strategies: [half] }) }),
    aFeature({ name: 'off-for-long' }),
    aFeature({ name: 'off-lately' }),
    aFeature({ name: 'young', createdAt: now }),
    aFeature({ name: 'stale', stale: true, createdAt: now }),
    aFeature({ name: 'outlived', createdAt: now }),
    aFeature({ name: 'archived', stale: true, archivedAt: now }),
    aFeature({ name: 'secret', stale: true, createdAt: now, project: 'vault' }),
  );
  await sql("update feature set production_at = now() - interval '40 days' where name <> 'all-users-lately'");
  await sql("update feature set potentially_stale = true where name = 'outlived'");
  const yes = { yes: 1, no: 0 };
  await report('production', {
    'all-users': yes,
    'all-users-lately': yes,
    'all-users-with-two-variants': yes,
    'all-users-with-parent': yes,
    'all-users-refused': { yes: 5, no: 1 },
    half: { yes: 1, no: 1 },
    'off-for-long': { yes: 1, no: 1 },
    'off-lately': yes,
  });
  await usedDaysAgo('off-for-long', 31);
  await report('production', { 'all-users-refused': yes, 'off-for-long': { yes: 0, no: 3 } });
});
afterAll(() => features.stop());

const listed = async (query: object = {}, caller = mia) =>
  (await features.call(ListCleanupFeatures, { query }, caller)).features;
const names = async (reason: CleanupReason, more: object = {}) =>
  (await listed({ reason, ...more })).map(({ name }) => name);

it('lists flags that are on for all users in production, unless an application has reported an evaluation to off lately', async () => {
  expect(await names('allOn')).toEqual(['all-users']);
  await usedDaysAgo('all-users-refused', 31);
  expect(await names('allOn')).toEqual(['all-users', 'all-users-refused']);
  expect(await names('allOn', { days: 60 })).toEqual([]);
  await report('production', { 'all-users-refused': { yes: 0, no: 1 } });
  expect(await names('allOn')).toEqual(['all-users']);
});

it('lists flags that are off everywhere, unless one was on recently', async () => {
  expect(await names('allOff')).toEqual(['off-for-long']);
});

it('lists flags that are stale, older than their type allows, not used any more, or have never been used', async () => {
  expect(await names('stale')).toEqual(['secret', 'stale']);
  expect(await names('potentiallyStale')).toEqual(['outlived']);
  expect(await names('neverSeen')).toEqual([]);
  await features.given(aFeature({ name: 'never' }));
  expect(await names('neverSeen')).toEqual(['never']);
  await usedDaysAgo('half', 31);
  expect(await names('notSeen')).toEqual(['half']);
  expect(await names('notSeen', { days: 32 })).toEqual([]);
});

it('lists each flag with the reason, its last use, its creator and the flags that depend on it', async () => {
  const [half] = await listed({ reason: 'notSeen' });
  expect(half).toEqual({
    name: 'half',
    project: 'shop',
    type: 'release',
    description: null,
    createdAt: '2026-01-01T00:00:00.000Z',
    createdBy: 'mia',
    reasons: ['notSeen'],
    environments: [
      { name: 'development', enabled: false, lastSeenAt: null },
      { name: 'production', enabled: true, lastSeenAt: expect.any(String) },
    ],
    neededBy: ['all-users-with-parent'],
  });
  expect((await listed({ query: 'NEVER' }))[0]?.reasons).toEqual(['allOff', 'neverSeen']);
});

it('lists flags page by page, and counts them by reason, without those of hidden projects', async () => {
  const stranger = { ...mia, hiddenProjects: ['vault'] };
  const all = (await listed({}, stranger)).map(({ name }) => name);
  expect(all).not.toContain('secret');
  const first = await features.call(ListCleanupFeatures, { query: { limit: 2 } }, stranger);
  const rest = await listed({ after: first.next ?? '' }, stranger);
  expect([...first.features, ...rest].map(({ name }) => name)).toEqual(all);
  const counts = await features.call(CountCleanupFeatures, { query: {} }, stranger);
  expect(counts).toMatchObject({ all: all.length, stale: 1, potentiallyStale: 1, notSeen: 1, neverSeen: 1 });
  expect(await features.call(CountCleanupFeatures, { query: { project: 'vault' } })).toMatchObject({
    all: 1,
    stale: 1,
  });
});

it('lists the flags that applications ask for and that do not exist, without those of hidden projects', async () => {
  await report('development', { gone: { yes: 0, no: 1 }, archived: { yes: 0, no: 1 }, half: { yes: 1, no: 0 } });
  await report('production', { gone: { yes: 0, no: 1 } }, 'vault', 'vaulted');
  const unknown = async (caller: Caller, project?: string) =>
    (
      await features.call(ListUnknownFlags, { query: project === undefined ? {} : { project } }, caller)
    ).unknownFlags.map(({ name, reports }) => [
      name,
      ...reports.map(
        ({ appName, environments }) => `${appName} in ${environments.map((one) => one.environment).join()}`,
      ),
    ]);
  const { unknownFlags } = await features.call(ListUnknownFlags, { query: {} });
  // What is archived could be revived: that is not what one does with a name that never existed.
  expect(unknownFlags.map(({ name, archivedIn }) => [name, archivedIn])).toEqual(
    expect.arrayContaining([
      ['archived', expect.any(String)],
      ['gone', null],
    ]),
  );
  const inWeb = ['archived', 'web in development'];
  expect((await unknown(mia)).toSorted()).toEqual([inWeb, ['gone', 'vaulted in production', 'web in development']]);
  expect((await unknown({ ...mia, hiddenProjects: ['vault'] })).toSorted()).toEqual([
    inWeb,
    ['gone', 'web in development'],
  ]);
  const inShop = [inWeb, ['gone', 'web in development']];
  expect((await unknown(mia, 'shop')).toSorted()).toEqual(inShop);
  expect((await unknown(mia, 'vault')).toSorted()).toEqual([
    inWeb,
    ['gone', 'vaulted in production', 'web in development'],
  ]);
});

it('stores a hundred unknown flags of an application and environment, also of one report and of concurrent ones', async () => {
  const invented = (from: number) =>
    Object.fromEntries(Array.from({ length: 300 }, (_, nth) => [`invented-${from + nth}`, { yes: 0, no: 1 }]));
  const stored = (appName: string) =>
    sql(
      'select environment, count(*)::int as names from client_missing_feature where app_name = $1 group by 1 order by 1',
      [appName],
    );
  await report('development', invented(0), undefined, 'inventive');
  expect(await stored('inventive')).toEqual([{ environment: 'development', names: 100 }]);
  await sql("delete from client_missing_feature where app_name = 'inventive' and feature > 'invented-1'");
  await Promise.all(
    [300, 600, 900].flatMap((from) => [
      report('development', invented(from), undefined, 'inventive'),
      report('production', invented(from), undefined, 'inventive'),
    ]),
  );
  expect(await stored('inventive')).toEqual([
    { environment: 'development', names: 100 },
    { environment: 'production', names: 100 },
  ]);
});

it('reads no more rows of twenty thousand unknown flags than of two thousand', async () => {
  await sql(`
    with app as (
      insert into client_application (app_name, created_at, last_seen_at)
      select 'many-' || nth, now(), now() from generate_series(1, 200) as nth returning app_name
    ) insert into client_application_usage select app_name, '*', 'development' from app`);
  const rowsReadOf = async (applications: number): Promise<number> => {
    await sql(
      `insert into client_missing_feature
       select 'many-' || app, 'development', 'many-' || app || '-' || nth, now() - make_interval(secs => app * 100 + nth)
       from generate_series(1, $1) as app, generate_series(1, 100) as nth on conflict do nothing`,
      [applications],
    );
    await sql('analyze client_missing_feature, client_application, client_application_usage, feature');
    return rowsRead(features.database, 'client_missing_feature', async (read) => {
      const { unknownFlags } = JSON.parse(await unknownFlagsReader(read)({}, [])) as { unknownFlags: unknown[] };
      expect(unknownFlags).toHaveLength(1_000);
    });
  };
  const ofFew = await rowsReadOf(20);
  expect(ofFew).toBeLessThan(10_000);
  expect(await rowsReadOf(200)).toBeLessThan(1.5 * ofFew);
});

it('leaves connections to others while many callers wait for heavy reads', async () => {
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const lock = features.database.transaction(async ({ query }) => {
    await query('lock table client_missing_feature');
    await released;
  });
  const held = async () =>
    sql("select from pg_locks where relation = 'client_missing_feature'::regclass and not granted");
  await eventually(async () => expect(await sql(isLocked)).toHaveLength(1));
  const readers = Array.from({ length: 12 }, (_, nth) =>
    features.call(ListUnknownFlags, { query: {} }, { ...mia, id: 1_000 + nth }),
  );
  const outcomes = Promise.allSettled(readers);
  await eventually(async () => expect(await held()).toHaveLength(3));
  await features.create('made-meanwhile');
  expect(await features.get('made-meanwhile')).toMatchObject({ name: 'made-meanwhile' });
  release();
  await lock;
  for (const outcome of await outcomes)
    if (outcome.status === 'rejected') expect(outcome.reason).toMatchObject({ kind: 'ServiceUnavailable' });
});

it('does not name a deleted flag of a hidden project that an application of all projects asks for', async () => {
  const stranger = { ...mia, hiddenProjects: ['vault'] };
  const named = async (caller: Caller, project?: string) =>
    (await features.call(ListUnknownFlags, { query: project === undefined ? {} : { project } }, caller)).unknownFlags
      .map(({ name }) => name)
      .filter((name) => name.startsWith('vaulted-'));
  await features.given(aFeature({ name: 'vaulted-flag', project: 'vault', archivedAt: now }));
  await features.call(DeleteFeatures, { params: { projectId: 'vault' }, body: { features: ['vaulted-flag'] } });
  await report('development', { 'vaulted-flag': { yes: 0, no: 1 } });
  expect(await named(mia)).toEqual(['vaulted-flag']);
  expect(await named(stranger)).toEqual([]);
});

it('lists for a hidden project what it lists for one that does not exist', async () => {
  const stranger = { ...mia, hiddenProjects: ['vault'] };
  await report('production', { 'asked-in-both': { yes: 0, no: 1 } }, 'shop', 'of-both');
  await report('production', { 'asked-in-both': { yes: 0, no: 1 } }, 'vault', 'of-both');
  const unknown = (project: string) => features.call(ListUnknownFlags, { query: { project } }, stranger);
  expect(await unknown('vault')).toEqual(await unknown('no-project'));
});
