import {
  type Caller,
  CreateProject,
  EnableFeature,
  GetApplication,
  GetFeatureUsage,
  GetRawFeatureMetrics,
  GetRecentUsage,
  GetUsageHistory,
  ListApplications,
  ListEdgeInstances,
  type MetricsBody,
  RegisterApplication,
  ReportEdgeInstance,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
} from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { addFeatures, callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';
import { aFeature } from '../../test/builders.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { SerializationFailure, type UnitOfWork } from '../unit-of-work/unit-of-work.ts';
import { storeReport } from './endpoints.ts';
import { usageReader } from './usage-store.ts';

const features = useFeatures();

describe('usage', () => {
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  });

  let nth = 0;
  let name: string;
  beforeEach(async () => {
    name = `checkout-${++nth}`;
    await features.create(name);
    await features.clearOutbox();
  });

  const inEnvironment = (environment: string) => callerWith({ permission: 'CLIENT', environment });
  const sql = <Row>(text: string, values: readonly unknown[] = []) =>
    features.database.transaction(({ query }) => query<Row>(text, values));

  interface ReportOptions {
    readonly caller?: Caller;
    readonly appName?: string;
    readonly stop?: string;
    readonly operation?: typeof ReportMetrics | typeof ReportFrontendMetrics;
    readonly environment?: string | undefined;
  }

  const report = (
    toggles: MetricsBody['bucket']['toggles'],
    {
      caller = inEnvironment('development'),
      appName = 'web',
      stop = new Date().toISOString(),
      operation = ReportMetrics,
      ...named
    }: ReportOptions = {},
  ) => features.call(operation, { body: { appName, ...named, bucket: { start: stop, stop, toggles } } }, caller);

  const figuresOf = async (feature: string) =>
    ((await features.get(feature)).environments ?? []).map(({ name: environment, yes, no, lastSeenAt }) => ({
      environment,
      yes,
      no,
      seen: lastSeenAt !== null,
    }));
  const stageOf = async (feature: string) => (await features.get(feature)).lifecycle?.stage;
  const raw = async (feature: string, hoursBack?: number) =>
    (await features.call(GetRawFeatureMetrics, { params: { featureName: feature }, query: { hoursBack } })).data;
  const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

  describe('the history of usage', () => {
    const historyOf = (range: '1h' | '24h' | '7d' | '30d' | '400d', caller?: Caller, timeZone = 'Asia/Kolkata') =>
      features.call(GetUsageHistory, { params: { featureName: name }, query: { range, timeZone } }, caller);
    const totals = async (range: '1h' | '24h' | '7d' | '30d' | '400d') => {
      const { environments, applications } = await historyOf(range);
      return {
        yes: environments.flatMap(({ buckets }) => buckets).reduce((sum, { yes }) => sum + yes, 0),
        applications: applications.map(({ appName, yes }) => `${appName} ${yes}`),
      };
    };

    it('counts by minute, hour and day, with variants and applications, from all sums that are kept', async () => {
      await report({ [name]: { yes: 3, no: 1, variants: { blue: 2, red: 1 } } });
      await report({ [name]: { yes: 1, no: 0 } }, { appName: 'shop' });
      await sql(
        `insert into feature_usage_past_hour (feature, environment, hour, yes, no, variants)
        select $1, 'development', date_trunc('hour', now()) - make_interval(days => days), 10, 0, '{"blue": 10}'
        from unnest(array[3, 10]) as days`,
        [name],
      );
      await sql(
        `insert into feature_usage_day (feature, environment, app_name, day, yes, no)
        select $1, 'development', 'web', (now() at time zone 'UTC')::date - days, 10, 0 from unnest(array[3, 10, 300]) as days`,
        [name],
      );
      expect(await totals('1h')).toEqual({ yes: 4, applications: ['web 3', 'shop 1'] });
      expect(await totals('24h')).toEqual({ yes: 4, applications: ['web 3', 'shop 1'] });
      expect(await totals('7d')).toEqual({ yes: 14, applications: ['web 13', 'shop 1'] });
      expect(await totals('30d')).toEqual({ yes: 24, applications: ['web 23', 'shop 1'] });
      expect(await totals('400d')).toEqual({ yes: 34, applications: ['web 33', 'shop 1'] });
      const { environments, unit, from } = await historyOf('7d');
      expect(unit).toBe('hour');
      expect(environments.map(({ environment }) => environment)).toEqual(['development']);
      const buckets = environments[0]?.buckets ?? [];
      expect(buckets.map(({ yes, no, variants }) => ({ yes, no, variants }))).toEqual([
        { yes: 10, no: 0, variants: { blue: 10 } },
        { yes: 4, no: 1, variants: { blue: 2, red: 1 } },
      ]);
      expect(Date.parse(from)).toBeLessThan(Date.parse(buckets[0]?.at ?? ''));
    });

    it('is empty for a feature that nothing evaluates, and hides those of private projects', async () => {
      expect(await historyOf('30d')).toMatchObject({ environments: [], applications: [], unit: 'day' });
      await expect(
        features.call(GetUsageHistory, { params: { featureName: 'no.such' }, query: {} }),
      ).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
      await expect(historyOf('30d', undefined, 'Mars/Olympus')).rejects.toMatchObject({ kind: 'ValidationError' });
    });
  });

  describe('the recent usage of features', () => {
    const recentOf = (...names: readonly string[]) =>
      features.call(GetRecentUsage, { body: { features: [...names] } }).then((recent) => recent.features);

    it('counts by day and environment from all sums that are kept, for many features at once', async () => {
      const other = `${name}-other`;
      await features.create(other);
      await report({ [name]: { yes: 3, no: 1 } });
      await report({ [name]: { yes: 1, no: 0 } }, { appName: 'shop' });
      await report({ [name]: { yes: 0, no: 2 } }, { caller: inEnvironment('production') });
      await sql(
        `insert into feature_usage_day (feature, environment, app_name, day, yes, no)
        select $1, 'development', app, (now() at time zone 'UTC')::date - days, 10, 1
        from unnest(array[3, 6, 7]) as days, unnest(array['web', 'shop']) as app`,
        [name],
      );
      const quiet = `${name}-quiet`;
      await features.create(quiet);
      await report({ [other]: { yes: 5, no: 0 } });
      expect(await recentOf(other, name, quiet, 'no.such')).toEqual([
        {
          name,
          environments: [
            { environment: 'development', yes: [20, 0, 0, 20, 0, 0, 4], no: [2, 0, 0, 2, 0, 0, 1] },
            { environment: 'production', yes: [0, 0, 0, 0, 0, 0, 0], no: [0, 0, 0, 0, 0, 0, 2] },
          ],
        },
        {
          name: other,
          environments: [{ environment: 'development', yes: [0, 0, 0, 0, 0, 0, 5], no: Array(7).fill(0) }],
        },
      ]);
    });

    it('is empty for features of projects that the caller may not see', async () => {
      await report({ [name]: { yes: 3, no: 1 } });
      const { features: shown } = JSON.parse(
        await usageReader(features.database).recent([name], new Date(), ['default', 'shop']),
      ) as {
        features: unknown[];
      };
      expect(shown).toEqual([]);
    });
  });

  describe('metrics', () => {
    it('shows metrics in the usage of a feature as soon as the report is replied to', async () => {
      expect(await report({ [name]: { yes: 3, no: 1 } })).toBeNull();
      await report({ [name]: { yes: 2, no: 0, variants: { red: 2 } } });
      expect(await figuresOf(name)).toEqual([
        { environment: 'development', yes: 5, no: 1, seen: true },
        { environment: 'production', yes: 0, no: 0, seen: false },
      ]);
      const usage = await features.call(GetFeatureUsage, { params: { featureName: name } });
      expect(usage).toMatchObject({
        featureName: name,
        lastHourUsage: [{ environment: 'development', yes: 5, no: 1 }],
        seenApplications: ['web'],
      });
      expect(await raw(name)).toMatchObject([
        { featureName: name, appName: 'web', environment: 'development', yes: 5, no: 1, variants: { red: 2 } },
      ]);
    });

    it('drops metrics from the usage of the last hour after sixty minutes, not at the full hour', async () => {
      await report({ [name]: { yes: 1, no: 0 } }, { stop: minutesAgo(58) });
      await report({ [name]: { yes: 10, no: 0 } }, { stop: minutesAgo(61) });
      expect((await figuresOf(name))[0]).toEqual({ environment: 'development', yes: 1, no: 0, seen: true });
      expect((await raw(name)).reduce((sum, { yes }) => sum + yes, 0)).toBe(11);
      await report({ [name]: { yes: 1, no: 0 } }, { stop: minutesAgo(49 * 60) });
      expect((await raw(name, 48)).reduce((sum, { yes }) => sum + yes, 0)).toBe(11);
    });

    it('adds up concurrent metrics of one hour and application, by variant', async () => {
      const reports = Array.from({ length: 20 }, () =>
        report({ [name]: { yes: 1, no: 1, variants: { red: 1, blue: 2 } } }),
      );
      await Promise.all(reports);
      expect((await figuresOf(name))[0]).toMatchObject({ yes: 20, no: 20 });
      const data = await raw(name);
      const sum = (variant: string) => data.reduce((all, { variants }) => all + (variants?.[variant] ?? 0), 0);
      expect([sum('red'), sum('blue')]).toEqual([20, 40]);
    });

    it('caps counts at the largest exact integer of JSON', async () => {
      const max = Number.MAX_SAFE_INTEGER;
      for (const stop of [minutesAgo(0), minutesAgo(0), minutesAgo(1)])
        await report({ [name]: { yes: max, no: max } }, { stop });
      expect((await figuresOf(name))[0]).toMatchObject({ yes: max, no: max });
    });

    it('drops metrics of unknown and archived features, and of projects outside of the token', async () => {
      const garage = callerWith({ permission: 'CLIENT', project: 'shop', environment: 'development' });
      await report({ unknown: { yes: 1 }, [name]: { yes: 1 } }, { caller: garage });
      expect((await figuresOf(name))[0]).toMatchObject({ yes: 0, seen: false });
      expect(await stageOf(name)).toBe('initial');
      expect(await sql('select from feature_usage_hour where feature = any ($1::text[])', [['unknown', name]])).toEqual(
        [],
      );
    });

    it('refuses metrics without permission or for an unknown environment', async () => {
      await expect(report({ [name]: { yes: 1 } }, { caller: lee })).rejects.toMatchObject({ kind: 'NoAccessError' });
      const everywhere = callerWith({ permission: 'CLIENT' });
      await expect(
        report({ [name]: { yes: 1 } }, { caller: everywhere, environment: 'nowhere' }),
      ).rejects.toMatchObject({
        kind: 'ValidationError',
        details: [{ path: '/body/environment' }],
      });
    });

    it.each([undefined, 'default'])(
      'counts metrics of an admin token that names the environment %s in the first enabled environment',
      async (environment) => {
        await report({ [name]: { yes: 3 } }, { caller: mia, environment });
        expect((await figuresOf(name))[0]).toMatchObject({ environment: 'development', yes: 3 });
        await report({ [name]: { yes: 1 } }, { caller: mia, environment: 'production' });
        expect((await figuresOf(name))[1]).toMatchObject({ environment: 'production', yes: 1 });
      },
    );

    it('accepts frontend metrics from an admin token', async () => {
      await report({ [name]: { yes: 2 } }, { caller: mia, operation: ReportFrontendMetrics });
      expect((await figuresOf(name))[0]).toMatchObject({ environment: 'development', yes: 2 });
    });
  });

  describe('metrics in bulk', () => {
    it('are counted only for the environment of the token', async () => {
      const metric = (environment: string, appName: string) => ({
        featureName: name,
        environment,
        appName,
        timestamp: new Date().toISOString(),
        yes: 2,
        no: 1,
      });
      const metrics = [metric('development', 'ios'), metric('development', 'ios'), metric('production', 'ios')];
      const body = { applications: [{ appName: 'ios', sdkVersion: 'swift:1' }], metrics };
      expect(await features.call(ReportProxiedMetrics, { body }, inEnvironment('development'))).toBeNull();
      expect(await figuresOf(name)).toMatchObject([
        { environment: 'development', yes: 4, no: 2 },
        { environment: 'production', yes: 0, no: 0 },
      ]);
      expect(await features.call(GetApplication, { params: { appName: 'ios' } })).toMatchObject({
        sdkVersion: 'swift:1',
        usage: [{ project: '*', environments: ['development'] }],
      });
    });
  });

  it('counts bulk metrics that carry what newer versions of Edge add to them', async () => {
    const body = {
      applications: [],
      metrics: [
        { featureName: name, appName: 'web', environment: 'development', timestamp: new Date().toISOString(), yes: 2 },
      ],
      impactMetrics: [
        { name: 'purchases', help: 'purchases', type: 'counter', samples: [{ labels: { appName: 'web' }, value: 3 }] },
      ],
      seenTokens: ['*:development.0123456789abcdef'],
    };
    expect(await features.call(ReportProxiedMetrics, { body }, inEnvironment('development'))).toBeNull();
    expect(await figuresOf(name)).toMatchObject([{ environment: 'development', yes: 2, no: 0 }, {}]);
  });

  it('counts bulk metrics once for each Idempotency-Key', async () => {
    const stop = new Date().toISOString();
    const body = { appName: 'web', bucket: { start: stop, stop, toggles: { [name]: { yes: 3, no: 1 } } } };
    const collected = {
      featureName: name,
      appName: 'web',
      environment: 'development',
      timestamp: stop,
      yes: 2,
      no: 0,
    };
    const [one, bulk] = [{ idempotencyKey: `one-${name}` }, { idempotencyKey: `bulk-${name}` }];
    for (let sent = 0; sent < 3; sent++) {
      await features.call(ReportMetrics, { body }, inEnvironment('development'), one);
      const both = { applications: [], metrics: [collected] };
      await features.call(ReportProxiedMetrics, { body: both }, inEnvironment('development'), bulk);
    }
    expect(await figuresOf(name)).toMatchObject([{ environment: 'development', yes: 5, no: 1 }, {}]);
  });

  describe('the first metrics', () => {
    it('move a feature to pre-live, or live from production, with its state and no event', async () => {
      await report({ [name]: { yes: 1 } });
      expect(await stageOf(name)).toBe('pre-live');
      expect((await features.lastState(name))?.lifecycle?.stage).toBe('pre-live');
      await report({ [name]: { yes: 1 } }, { caller: inEnvironment('production') });
      expect(await stageOf(name)).toBe('pre-live');

      const at = { projectId: 'default', featureName: name, environment: 'production' };
      await features.call(EnableFeature, { params: at, query: {} });
      await features.clearOutbox();
      await report({ [name]: { yes: 1 } }, { caller: inEnvironment('production') });
      expect(await stageOf(name)).toBe('live');
      expect(await features.lastState(name)).toMatchObject({ lifecycle: { stage: 'live' } });
      expect((await features.emittedEvents()).filter(({ featureName }) => featureName === name)).toEqual([]);
    });

    it('move a feature to a stage exactly once when they are concurrent', async () => {
      const callers = [inEnvironment('development'), inEnvironment('production')];
      await Promise.all(
        Array.from({ length: 16 }, (_, index) => report({ [name]: { yes: 1 } }, { caller: callers[index % 2] })),
      );
      const [row] = await sql<{ stages: string[] }>(
        "select array(select stage ->> 'stage' from jsonb_array_elements(lifecycle) as stage) as stages from feature where name = $1",
        [name],
      );
      expect(row?.stages).toEqual(['initial', 'pre-live']);
      expect(await figuresOf(name)).toMatchObject([{ yes: 8 }, { yes: 8 }]);
    });
  });

  it('emits the state of a feature for usage alone at most once a minute', async () => {
    for (let round = 0; round < 5; round++) await report({ [name]: { yes: 1 } });
    const emitted = async () => (await features.states('feature')).filter(({ id }) => id === name);
    expect(await emitted()).toHaveLength(1);
    await sql("update feature_seen set emitted_at = now() - interval '61 seconds' where feature = $1", [name]);
    await report({ [name]: { yes: 1 } });
    expect(await emitted()).toHaveLength(2);
    expect((await features.lastState(name))?.environments[0]).toMatchObject({ yes: 6 });
    // The clock was a year ahead at the last time, and has been set back.
    await sql("update feature_seen set emitted_at = now() + interval '1 year' where feature = $1", [name]);
    await report({ [name]: { yes: 1 } });
    expect(await emitted()).toHaveLength(3);
  });

  describe('an application', () => {
    const register = (appName: string, strategies: string[], caller = inEnvironment('production')) =>
      features.call(
        RegisterApplication,
        { body: { appName, strategies, started: new Date().toISOString(), interval: 10, sdkVersion: 'node:6' } },
        caller,
      );

    it('emits one event for a new application, with the system as actor', async () => {
      await Promise.all([register('backend', ['default']), register('backend', ['default'])]);
      await register('backend', ['default', 'flexibleRollout']);
      await report({ [name]: { yes: 1 } }, { appName: 'backend' });
      const emitted = (await features.emittedEvents()).filter(({ type }) => type === 'application-created');
      expect(emitted).toMatchObject([
        {
          createdBy: 'unleash_system_user',
          createdByUserId: -1337,
          project: null,
          featureName: null,
          data: { appName: 'backend', strategies: ['default'], sdkVersion: 'node:6' },
        },
      ]);
      expect(await features.call(GetApplication, { params: { appName: 'backend' } })).toMatchObject({
        appName: 'backend',
        strategies: [{ name: 'default' }, { name: 'flexibleRollout' }],
        usage: [{ project: '*', environments: ['development', 'production'] }],
      });
      const { applications, total } = await features.call(ListApplications, {});
      expect(applications).toHaveLength(total);
      expect(applications.map(({ appName }) => appName)).toContain('backend');
    });

    it('has the SDK of its browsers by the header of their reports, and another version of it once a minute', async () => {
      const caller = callerWith({ permission: 'FRONTEND', environment: 'development' });
      const now = new Date().toISOString();
      const body = { appName: 'page', bucket: { start: now, stop: now, toggles: {} } };
      const reportWith = (sdk: string) => features.call(ReportFrontendMetrics, { query: { sdk }, body }, caller);
      const sdkOf = async () => (await features.call(GetApplication, { params: { appName: 'page' } })).sdkVersion;
      await reportWith('unleash-js-sdk:3.8.2');
      await reportWith('unleash-js-sdk:3.7.0');
      expect(await sdkOf()).toBe('unleash-js-sdk:3.8.2');
      await sql("update client_application set last_seen_at = now() - interval '61 seconds' where app_name = 'page'");
      await reportWith('unleash-js-sdk:3.7.0');
      expect(await sdkOf()).toBe('unleash-js-sdk:3.7.0');
    });

    it('refuses unknown applications and the usage of unknown features', async () => {
      const missing = { kind: 'NotFoundError' };
      await expect(features.call(GetApplication, { params: { appName: 'unknown' } })).rejects.toMatchObject(missing);
      await expect(features.call(GetFeatureUsage, { params: { featureName: 'unknown' } })).rejects.toMatchObject(
        missing,
      );
      await expect(raw('unknown')).rejects.toMatchObject(missing);
    });
  });
});

describe('a report of usage', () => {
  let features: FeaturesWithoutLoops;
  beforeAll(async () => {
    features = await featuresWithoutLoops();
  });
  afterAll(() => features.stop());

  it('takes new applications from the budget of a key once, although a conflict repeats the transaction', async () => {
    let conflicts = 2;
    const conflicting = ((context: Parameters<UnitOfWork>[0], job: Parameters<UnitOfWork>[1]) =>
      features.transaction(context, async (tx) => {
        const reply = await job(tx);
        if (conflicts-- > 0) throw new SerializationFailure('a conflict');
        return reply;
      })) as UnitOfWork;
    const [taken, unlisted]: [number[], unknown[]] = [[], []];
    const store = storeReport(conflicting, {
      limit: 1_000,
      takeFromBudget: (_, wanted) => {
        taken.push(wanted);
        return 2;
      },
      onUnlisted: (reason, applications) => void unlisted.push([reason, applications]),
    });
    const now = new Date();
    const request = { caller: mia, now, deadline: new Date(now.getTime() + 30_000), traceparent: '' };
    const applications = ['shop', 'till', 'scale'].map((appName) => ({
      appName,
      projects: ['*'],
      environment: 'development',
      isFrontend: false,
      createdBy: 'mia',
    }));
    await store(request, { counts: [], applications }, null);
    expect(conflicts).toBe(-1);
    expect([taken, unlisted]).toEqual([[3], [['rate', 1]]]);
    const names = { text: 'select app_name as name from client_application order by app_name' };
    expect(await features.database.read(names)).toEqual([{ name: 'shop' }, { name: 'till' }]);
  });
});

describe('instances of Edge', () => {
  const sql = (text: string) => features.database.transaction(({ query }) => query(text));
  beforeEach(() => sql('truncate edge_instance'));

  const edge = callerWith({ permission: 'CLIENT' });
  const report = (body: { identifier: string } & Record<string, unknown>, caller = edge) =>
    features.call(ReportEdgeInstance, { body: { appName: 'edge', edgeVersion: '19.15.1', ...body } }, caller);
  const edges = async () => (await features.call(ListEdgeInstances, {})).edges;

  it('shows the latest report of each Edge with all that it sent, the latest first', async () => {
    const traffic = { get: { '/api/client/features': { requests200: 7 } }, cachedResponses: {} };
    const behind = { identifier: 'c', appName: 'edge', edgeVersion: '19.15.1' };
    await report({ identifier: 'a', connectedStreamingClients: 1 });
    await report({ identifier: 'b', region: 'eu', traffic, connectedEdges: [behind] });
    await report({ identifier: 'a', connectedStreamingClients: 3 });
    expect(await edges()).toEqual([
      {
        identifier: 'a',
        appName: 'edge',
        edgeVersion: '19.15.1',
        connectedStreamingClients: 3,
        reportedAt: expect.any(String),
      },
      expect.objectContaining({ identifier: 'b', region: 'eu', traffic, connectedEdges: [behind] }),
    ]);
  });

  it('keeps of a report what an edge may say, whatever it says', async () => {
    const named = { appName: 'edge', edgeVersion: '1' };
    const chain = (levels: number): object =>
      levels === 0 ? {} : { identifier: `level-${levels}`, ...named, connectedEdges: [chain(levels - 1)] };
    await report({
      identifier: 'a',
      staleMs: -1,
      connectedStreamingClients: '<b>many</b>',
      edgeApiKeyRevisionIds: [
        ...Array.from({ length: 200 }, (_, nth) => ({ environment: `e${nth}`, projects: ['*'], revisionId: nth })),
        { environment: 'e', projects: '*', revisionId: 1 },
      ],
      connectedEdges: [
        chain(30),
        'none',
        { identifier: 'x'.repeat(300), ...named },
        ...Array.from({ length: 500 }, (_, nth) => ({ identifier: `nth-${nth}`, ...named })),
      ],
    });
    const [edge] = await edges();
    expect(edge).not.toHaveProperty('staleMs');
    expect(edge).not.toHaveProperty('connectedStreamingClients');
    expect(edge?.edgeApiKeyRevisionIds).toHaveLength(100);
    const below = edge?.connectedEdges ?? [];
    expect(below[0]).toMatchObject({
      identifier: 'level-30',
      connectedEdges: [{ connectedEdges: [{ identifier: 'level-28', connectedEdges: [{ connectedEdges: [] }] }] }],
    });
    expect(below.slice(1).map(({ identifier }) => identifier)).toEqual(
      Array.from({ length: 95 }, (_, nth) => `nth-${nth}`),
    );
  });

  it('lists no edge that has not reported for a day', async () => {
    await sql(`insert into edge_instance
    select 'edge-' || hours, '{"identifier": "x", "appName": "edge", "edgeVersion": "1"}', now() - hours * interval '1 hour'
    from unnest(array[23, 25]) as hours`);
    expect(await edges()).toHaveLength(1);
  });

  it('forgets the Edge that is silent for longest when there are more than a thousand', async () => {
    await sql(`insert into edge_instance
    select 'edge-' || nth, jsonb_build_object('identifier', 'edge-' || nth, 'appName', 'edge', 'edgeVersion', '1'), now() - nth * interval '1 second'
    from generate_series(1, 1000) as nth`);
    await report({ identifier: 'edge-1000', region: 'eu' });
    await Promise.all(['one more', 'another'].map((identifier) => report({ identifier })));
    await report({ identifier: 'the last' });
    const listed = (await edges()).map(({ identifier }) => identifier);
    expect(listed).toHaveLength(1_000);
    expect(listed).toEqual(
      expect.arrayContaining(['the last', 'one more', 'another', 'edge-1000', 'edge-1', 'edge-996']),
    );
    expect(listed).not.toContain('edge-999');
  });

  it('keeps at most 64 KiB of a report: the last Edges behind it go first, then what only this Edge knows', async () => {
    const behind = Array.from({ length: 60 }, (_, nth) => ({
      identifier: `behind-${nth}`,
      appName: 'edge',
      edgeVersion: '1',
      more: 'ä'.repeat(1_000),
    }));
    await report({ identifier: 'relay', connectedEdges: behind });
    await report({ identifier: 'huge', region: 'eu', staleMs: 7, more: 'x'.repeat(100_000), connectedEdges: behind });
    const [huge, relay] = await edges();
    expect(huge).toMatchObject({ identifier: 'huge', region: 'eu', staleMs: 7 });
    expect(huge).not.toHaveProperty('more');
    expect(relay?.connectedEdges?.length).toBeGreaterThan(25);
    expect(relay?.connectedEdges).toEqual(behind.slice(0, relay?.connectedEdges?.length));
    for (const edge of [huge, relay]) expect(Buffer.byteLength(JSON.stringify(edge))).toBeLessThanOrEqual(65_600);
  });

  it('lists reports that a previous version stored as they came', async () => {
    const stored = [
      { edgeApiKeyRevisionIds: null, connectedEdges: null },
      { edgeApiKeyRevisionIds: {}, connectedEdges: [{ edgeApiKeyRevisionIds: 7 }] },
      {
        edgeApiKeyRevisionIds: [
          { environment: 'e', revisionId: 1 },
          { environment: 'e', projects: ['*'], revisionId: 2 },
        ],
      },
    ].map((report, nth) => JSON.stringify({ identifier: `${nth}`, appName: 'edge', edgeVersion: '1', ...report }));
    for (const [nth, json] of stored.entries())
      await sql(`insert into edge_instance values ('${nth}', '${json}', now() - interval '${nth} seconds')`);
    const named = { appName: 'edge', edgeVersion: '1', reportedAt: expect.any(String) };
    expect(await edges()).toEqual([
      { identifier: '0', ...named },
      { identifier: '1', ...named, connectedEdges: [] },
      { identifier: '2', ...named, edgeApiKeyRevisionIds: [{ environment: 'e', projects: ['*'], revisionId: 2 }] },
    ]);
  });

  it('shows nobody revisions that tell of projects hidden from them, also of Edges behind others', async () => {
    const revisions = [['*'], ['shop'], ['shop', 'vault'], ['vault']].map((projects) => ({
      environment: 'production',
      projects,
      revisionId: 1,
    }));
    const behind = { identifier: 'b', appName: 'edge', edgeVersion: '1', edgeApiKeyRevisionIds: revisions };
    await report({ identifier: 'a', edgeApiKeyRevisionIds: revisions, connectedEdges: [behind] });
    const seenBy = async (caller?: Caller) => {
      const [edge] = (await features.call(ListEdgeInstances, {}, caller)).edges;
      return [edge, ...(edge?.connectedEdges ?? [])].map((one) =>
        one?.edgeApiKeyRevisionIds?.map(({ projects }) => projects.join()),
      );
    };
    const all = ['*', 'shop', 'shop,vault', 'vault'];
    expect(await seenBy()).toEqual([all, all]);
    expect(await seenBy({ ...callerWith(), hiddenProjects: ['vault'] })).toEqual([['shop'], ['shop']]);
  });

  it('lists the latest reports that fit into a reply', async () => {
    await sql(`insert into edge_instance
    select 'edge-' || nth, jsonb_build_object('identifier', 'edge-' || nth, 'appName', 'edge', 'edgeVersion', '1', 'more', repeat('x', 1024 * 1024)),
      now() - nth * interval '1 second'
    from generate_series(1, 12) as nth`);
    const listed = (await edges()).map(({ identifier }) => identifier);
    expect(listed).toEqual(Array.from({ length: 7 }, (_, nth) => `edge-${nth + 1}`));
  });

  it('refuses a report without the permission of an application', async () => {
    await expect(report({ identifier: 'a' }, callerWith({ permission: 'CREATE_FEATURE' }))).rejects.toMatchObject({
      kind: 'NoAccessError',
    });
  });
});

describe('many features', () => {
  const count = 10_000;
  let features: FeaturesWithoutLoops;
  beforeAll(async () => {
    features = await featuresWithoutLoops();
    const flags = Array.from({ length: count }, (_, nth) => aFeature({ name: `flag-${nth}`, project: 'default' }));
    await addFeatures(features.database, flags);
  });
  afterAll(() => features.stop());

  const report = async (flags: number): Promise<number> => {
    const stop = new Date().toISOString();
    const toggles: MetricsBody['bucket']['toggles'] = {};
    for (let nth = 0; nth < flags; nth++) toggles[`flag-${nth}`] = { yes: 1, no: 2, variants: { red: 1 } };
    const caller = callerWith({ permission: 'CLIENT', environment: 'development' });
    const body = { appName: 'web', bucket: { start: stop, stop, toggles } };
    return features.statementsOf(() => features.call(ReportMetrics, { body }, caller, { timeoutMs: 60_000 }));
  };

  it('stores a report about ten thousand features with as many statements as one about one feature', async () => {
    const [first, later] = [await report(count), await report(count)];
    expect(first).toBeLessThanOrEqual(15);
    expect(later).toBeLessThanOrEqual(first);
    expect(await report(1)).toBe(later);
    const [sum] = await features.database.transaction(({ query }) =>
      query<{ yes: number; live: number }>(
        `select sum(yes)::bigint as yes, (select count(*) from feature where lifecycle @> '[{"stage": "pre-live"}]') as live
      from feature_usage_hour`,
      ),
    );
    expect(sum).toEqual({ yes: 2 * count + 1, live: count });
  });
});
