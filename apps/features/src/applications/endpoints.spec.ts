import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Caller,
  CreateProject,
  DeleteApplication,
  DescribeApplication,
  GetApplication,
  GetApplicationOverview,
  ListApplicationInstances,
  ListApplications,
  ListOutdatedSdks,
  ListProjectApplications,
  RegisterApplication,
  RegisterFrontendApplication,
  ReportFrontendMetrics,
  ReportMetrics,
  ReportProxiedMetrics,
} from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { mia, callerWith, useFeatures } from '../../test/started-features.ts';

const started = new Date().toISOString();
const development = { permission: 'CLIENT', environment: 'development' } as const;
const frontend = (tokenId: string): Caller => ({
  ...callerWith({ permission: 'FRONTEND', environment: 'development' }),
  tokenId,
});
const bucketOf = (toggles: Record<string, { yes: number }>) => ({ start: started, stop: started, toggles });

describe('an application', () => {
  const features = useFeatures();
  beforeAll(async () => {
    for (const id of ['shop', 'vault']) await features.call(CreateProject, { body: { id, name: id } });
    await features.given(
      ...['checkout', 'search'].map((name) => aFeature({ name, project: 'shop' })),
      aFeature({ name: 'safe', project: 'vault' }),
    );
    const register = (appName: string, more: object, caller: Caller) =>
      features.call(
        RegisterApplication,
        { body: { appName, started, interval: 10, strategies: ['default'], ...more } },
        caller,
      );
    const everywhere = callerWith(development);
    await register('till', { instanceId: 'one', sdkVersion: 'unleash-client-node:6.4.1' }, everywhere);
    await register(
      'till',
      {
        instanceId: 'two',
        sdkVersion: 'unleash-client-node@5.3.0',
        strategies: ['default', 'gradualRolloutUserId', 'byMoon'],
      },
      everywhere,
    );
    const toggles = { checkout: { yes: 1 }, safe: { yes: 1 }, gone: { yes: 1 } };
    const body = { appName: 'till', instanceId: 'one', bucket: bucketOf(toggles) };
    await features.call(ReportMetrics, { body }, everywhere);
    await register('kiosk', {}, callerWith({ ...development, project: 'shop' }));
    await register('vaulted', {}, callerWith({ ...development, project: 'vault' }));
  });

  const stranger: Caller = { ...callerWith({ permission: 'UPDATE_APPLICATION' }), hiddenProjects: ['vault'] };
  const till = { params: { appName: 'till' } };

  it('shows an application with its strategies, instances, features and missing features', async () => {
    const details = await features.call(GetApplication, till);
    expect(details).toMatchObject({
      appName: 'till',
      createdBy: 'kim',
      links: { self: '/api/applications/till' },
      strategies: [
        { name: 'default', deprecated: false },
        { name: 'gradualRolloutUserId', deprecated: true },
        { name: 'byMoon', notFound: true },
      ],
      seenToggles: [
        { name: 'checkout', project: 'shop', type: 'release' },
        { name: 'gone', notFound: true },
        { name: 'safe', project: 'vault' },
      ],
      usage: [{ project: '*', environments: ['development'] }],
    });
    expect(details.instances.map(({ instanceId, sdkVersion }) => `${instanceId} ${sdkVersion}`).toSorted()).toEqual([
      'one unleash-client-node:6.4.1',
      'two unleash-client-node@5.3.0',
    ]);
  });

  it('shows the overview of an application with its projects, environments, SDKs and issues, and misses no type of SDKs', async () => {
    expect(await features.call(GetApplicationOverview, till)).toEqual({
      projects: ['shop', 'vault'],
      featureCount: 2,
      environments: [
        {
          name: 'development',
          instanceCount: 2,
          lastSeen: expect.any(String),
          sdks: ['unleash-client-node:6.4.1', 'unleash-client-node@5.3.0'],
          issues: { missingFeatures: ['gone'], outdatedSdks: ['unleash-client-node@5.3.0'] },
        },
      ],
      issues: { missingStrategies: ['byMoon'] },
    });
  });

  it('hides the features of hidden projects, and applications that are used only there', async () => {
    expect((await features.call(GetApplication, till, stranger)).seenToggles.map(({ name }) => name)).toEqual([
      'checkout',
      'gone',
    ]);
    expect(await features.call(GetApplicationOverview, till, stranger)).toMatchObject({
      projects: ['shop'],
      featureCount: 1,
    });
    const params = { appName: 'vaulted' };
    for (const request of [
      () => features.call(GetApplication, { params }, stranger),
      () => features.call(GetApplicationOverview, { params }, stranger),
      () => features.call(ListApplicationInstances, { params: { ...params, environment: 'development' } }, stranger),
      () => features.call(DeleteApplication, { params }, stranger),
    ])
      await expect(request()).rejects.toMatchObject({ kind: 'NotFoundError' });
    // The reply is that for a new one, and nothing is stored.
    await features.call(DescribeApplication, { params, body: { color: 'red' } }, stranger);
    expect((await features.call(GetApplication, { params })).color).toBeNull();
  });

  it('lists the instances of an application in an environment', async () => {
    const at = { params: { appName: 'till', environment: 'development' } };
    const { instances } = await features.call(ListApplicationInstances, at);
    expect(instances.map(({ instanceId }) => instanceId).toSorted()).toEqual(['one', 'two']);
    const elsewhere = { params: { appName: 'till', environment: 'production' } };
    expect(await features.call(ListApplicationInstances, elsewhere)).toEqual({ instances: [] });
  });

  it('lists applications page by page, sorted and filtered by a part of the name', async () => {
    const list = async (query: object, caller = mia) => {
      const { applications, total } = await features.call(ListApplications, { query }, caller);
      return [applications.map(({ appName }) => appName), total];
    };
    expect(await list({})).toEqual([['kiosk', 'till', 'vaulted'], 3]);
    expect(await list({}, stranger)).toEqual([['kiosk', 'till'], 2]);
    expect(await list({ limit: 1, offset: 1 })).toEqual([['till'], 3]);
    expect(await list({ sortOrder: 'desc', limit: 2 })).toEqual([['vaulted', 'till'], 3]);
    for (const sortBy of ['instances', '', '__proto__'])
      expect(await list({ sortBy, sortOrder: 'desc', limit: 2 })).toEqual([['vaulted', 'till'], 3]);
    expect(await list({ query: 'AULT' })).toEqual([['vaulted'], 1]);
    expect(await list({ query: '%' })).toEqual([[], 0]);
    const { applications } = await features.call(ListApplications, { query: { query: 'kiosk' } });
    expect(applications).toMatchObject([{ project: 'shop', environment: 'development', updatedAt: null }]);
  });

  it('lists applications with their instances by SDK, and marks versions older than a major one that any instance has', async () => {
    const { applications } = await features.call(ListApplications, {}, stranger);
    const till = applications.find(({ appName }) => appName === 'till');
    expect([till?.instances, till?.sdks]).toEqual([
      2,
      [
        { sdkVersion: 'unleash-client-node:6.4.1', instances: 1, isOutdated: false },
        { sdkVersion: 'unleash-client-node@5.3.0', instances: 1, isOutdated: true },
      ],
    ]);
    const kiosk = applications.find(({ appName }) => appName === 'kiosk');
    expect([kiosk?.instances, kiosk?.sdks]).toEqual([1, []]);
  });

  it('lists an application in each project that it has a key for or whose features it evaluates', async () => {
    const params = { projectId: 'shop' };
    const list = async (query: object = {}) =>
      (await features.call(ListProjectApplications, { params, query })).applications;
    expect(await list()).toMatchObject([
      { name: 'kiosk', environments: ['development'], instances: ['default'], sdks: [] },
      {
        name: 'till',
        environments: ['development'],
        sdks: [{ name: 'unleash-client-node', versions: ['5.3.0', '6.4.1'] }],
      },
    ]);
    expect((await list({ query: 'node:6' })).map(({ name }) => name)).toEqual(['till']);
    const last = { limit: 1, sortBy: 'createdAt', sortOrder: 'desc' };
    expect((await list(last)).map(({ name }) => name)).toEqual(['till']);
    expect(await features.call(ListOutdatedSdks, { params })).toEqual({
      sdks: [{ sdkVersion: 'unleash-client-node@5.3.0', applications: ['till'] }],
    });
    for (const operation of [ListProjectApplications, ListOutdatedSdks])
      await expect(
        features.call(operation, { params: { projectId: 'moon' }, query: {} } as never),
      ).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('lets callers with UPDATE_APPLICATION describe and delete an application, which is listed again when it reports', async () => {
    const kim = callerWith({ permission: 'UPDATE_APPLICATION' });
    const params = { appName: 'poster' };
    const url = 'https://example.com';
    await features.call(DescribeApplication, { params, body: { url, color: 'red' } }, kim);
    await features.call(DescribeApplication, { params, body: { description: 'on walls' } }, kim);
    const said = { url, color: 'red', description: 'on walls', icon: null, createdBy: 'kim' };
    expect(await features.call(GetApplication, { params })).toMatchObject({ ...said, updatedAt: expect.any(String) });
    await features.call(DeleteApplication, { params }, kim);
    await expect(features.call(DeleteApplication, { params }, kim)).rejects.toMatchObject({ kind: 'NotFoundError' });
    const noPermissions = callerWith();
    for (const request of [
      () => features.call(DescribeApplication, { params, body: {} }, noPermissions),
      () => features.call(DeleteApplication, { params }, noPermissions),
    ])
      await expect(request()).rejects.toMatchObject({ permissions: ['UPDATE_APPLICATION'] });
  });
});

describe('the list of applications', () => {
  const features = useFeatures({
    FEATURES_MAX_APPLICATIONS: '30',
    FEATURES_MAX_NEW_APPLICATIONS_PER_MINUTE: '25',
    FEATURES_HOUSEKEEPING_INTERVAL_MS: '1000000',
  });
  beforeAll(async () => {
    await features.create('banner');
  });

  const listed = async (query?: string) =>
    (await features.call(ListApplications, { query: query === undefined ? {} : { query } })).applications;
  const reportFrom = (appName: string, caller: Caller) =>
    features.call(ReportFrontendMetrics, { body: { appName, bucket: bucketOf({ banner: { yes: 1 } }) } }, caller);

  it('limits applications of frontend keys to a tenth of the list, without events, and counts what they report', async () => {
    for (let nth = 0; nth < 8; nth++) await reportFrom(`page-${nth}`, frontend('public'));
    for (let nth = 0; nth < 4; nth++) {
      const body = { appName: `site-${nth}`, started, interval: 1, strategies: ['x'.repeat(200)] };
      await features.call(RegisterFrontendApplication, { body }, frontend('another'));
    }
    expect((await listed()).map(({ appName }) => appName)).toEqual(['page-0', 'page-1', 'page-2']);
    expect((await listed()).flatMap(({ strategies }) => strategies)).toEqual([]);
    expect((await features.emittedEvents()).filter(({ type }) => type === 'application-created')).toEqual([]);
    expect((await features.get('banner')).environments?.[0]).toMatchObject({ name: 'development', yes: 8 });
    const apps = await features.database.transaction(({ query }) =>
      query<{ name: string; yes: number }>('select app_name as name, yes from feature_usage_hour order by 1'),
    );
    expect(apps).toEqual([
      { name: '(not listed)', yes: 5 },
      ...[0, 1, 2].map((nth) => ({ name: `page-${nth}`, yes: 1 })),
    ]);
    expect((await features.call(GetApplication, { params: { appName: 'page-0' } })).instances).toEqual([]);
  });

  it('emits the event for an application of a frontend key when a backend key reports it', async () => {
    const body = { appName: 'page-0', started, interval: 1, strategies: [] };
    await Promise.all([0, 1].map(() => features.call(RegisterApplication, { body }, callerWith(development))));
    expect((await features.emittedEvents()).filter(({ type }) => type === 'application-created')).toMatchObject([
      { data: { appName: 'page-0' } },
    ]);
  });

  it('limits new applications by key and minute, and by the length of the list, in which hidden ones count as new', async () => {
    const applications = Array.from({ length: 40 }, (_, nth) => ({
      appName: `bulk-${nth}`,
      environment: 'development',
    }));
    const body = { applications, metrics: [] };
    const key = (tokenId: string): Caller => ({ ...callerWith(development), tokenId });
    const vaulted = { appName: 'vaulted', started, interval: 1, strategies: [] };
    await features.call(RegisterApplication, { body: vaulted }, callerWith({ ...development, project: 'vault' }));
    await features.call(ReportProxiedMetrics, { body }, key('edge'));
    const first = await listed('bulk-');
    expect(first.length).toBeGreaterThan(0);
    expect(first.length).toBeLessThanOrEqual(25);
    await features.call(ReportProxiedMetrics, { body }, key('other edge'));
    expect(await listed()).toHaveLength(30);
    const stranger: Caller = { ...callerWith({ permission: 'UPDATE_APPLICATION' }), hiddenProjects: ['vault'] };
    for (const appName of ['one more', 'vaulted']) {
      const describe = features.call(DescribeApplication, { params: { appName }, body: {} }, stranger);
      await expect(describe).rejects.toMatchObject({ kind: 'ExceedsLimitError' });
    }
    await features.call(DescribeApplication, { params: { appName: 'vaulted' }, body: {} });
    const created = (await features.emittedEvents()).filter(({ type }) => type === 'application-created');
    expect(created).toHaveLength(28);
  });
});
