import { beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddFavoriteFeature,
  ArchiveFeature,
  type Caller,
  CreateProject,
  CreateSegment,
  EnableFeature,
  SearchFlagCreators,
  GetPersonalDashboard,
  GetPersonalDashboardProject,
  GetDeprecatedProjectOverview,
  GetProjectDora,
  GetProjectHealth,
  GetProjectInsights,
  GetProjectOverview,
  GetProjectStatus,
  ListProjects,
  ReportMetrics,
} from '@bunting/contracts';
import { aFeature, aUserReference } from '../../test/builders.ts';
import { activityOfDefault, ada, lee, mia, callerWith, useFeatures } from '../../test/started-features.ts';

const dayMs = 86_400_000;
const daysAgo = (days: number): string => new Date(Date.now() - days * dayMs).toISOString();
const params = { projectId: 'default' };
const someone: Caller = { id: 7, name: 'Someone', grants: [{ permission: 'UPDATE_FEATURE', project: 'default' }] };

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
});
beforeEach(async () => {
  await features.database.transaction(({ query }) => query('truncate feature, client_application, segment cascade'));
});

const ofDefault = (name: string, about: Parameters<typeof aFeature>[0] = {}) =>
  aFeature({ name, project: 'default', ...about });
const overview = (projectId = 'default') => features.call(GetProjectOverview, { params: { projectId } });
const enableInProduction = (featureName: string) =>
  features.call(EnableFeature, { params: { ...params, featureName, environment: 'production' } });
const report = (caller: Caller, name: string) => {
  const at = new Date().toISOString();
  const bucket = { start: at, stop: at, toggles: { [name]: { yes: 1, no: 0 } } };
  return features.call(ReportMetrics, { body: { appName: 'till', instanceId: 'one', bucket } }, caller);
};

it('returns the onboarding status of a project', async () => {
  expect((await overview()).onboardingStatus).toEqual({ status: 'onboarding-started' });
  await features.given(
    ofDefault('young', { createdAt: daysAgo(1) }),
    ofDefault('old', { createdAt: daysAgo(2) }),
    ofDefault('gone', { createdAt: daysAgo(3), archivedAt: daysAgo(1) }),
  );
  expect((await overview()).onboardingStatus).toEqual({ status: 'first-flag-created', feature: 'old' });
  await report(callerWith({ permission: 'CLIENT', project: 'default', environment: 'production' }), 'young');
  expect((await overview()).onboardingStatus).toEqual({ status: 'onboarded' });
  expect((await overview('shop')).onboardingStatus).toEqual({ status: 'onboarding-started' });
});

it('counts the activity of a project in the last 30 days and the 30 days before', async () => {
  await features.given(
    ofDefault('new', { createdAt: daysAgo(10) }),
    ofDefault('older', { createdAt: daysAgo(40), archivedAt: daysAgo(35) }),
    ofDefault('oldest', { createdAt: daysAgo(100), archivedAt: daysAgo(2) }),
  );
  await enableInProduction('new');
  const stats = {
    avgTimeToProdCurrentWindow: 10,
    createdCurrentWindow: 1,
    createdPastWindow: 1,
    archivedCurrentWindow: 1,
    archivedPastWindow: 1,
    projectActivityCurrentWindow: activityOfDefault.currentWindow,
    projectActivityPastWindow: activityOfDefault.pastWindow,
    projectMembersAddedCurrentWindow: 1,
  };
  for (const operation of [GetProjectOverview, GetDeprecatedProjectOverview, GetProjectHealth, GetProjectInsights]) {
    expect(await features.call(operation, { params })).toMatchObject({ stats });
  }
  expect((await overview('shop')).stats).toEqual(Object.fromEntries(Object.keys(stats).map((key) => [key, 0])));
});

it('keeps the time when a feature was first enabled in production', async () => {
  await features.given(ofDefault('fast', { createdAt: daysAgo(1) }), ofDefault('slow', { createdAt: daysAgo(4) }));
  await features.given(ofDefault('never'), ofDefault('development-only', { enabled: true }));
  await enableInProduction('slow');
  await enableInProduction('fast');
  await features.call(ArchiveFeature, { params: { ...params, featureName: 'fast' } });
  expect(await features.call(GetProjectDora, { params })).toEqual({
    projectAverage: 2.5,
    features: [
      { name: 'fast', timeToProduction: 1 },
      { name: 'slow', timeToProduction: 4 },
    ],
  });
  const nothing = { projectAverage: 0, features: [] };
  expect(await features.call(GetProjectDora, { params: { projectId: 'moon' } })).toEqual(nothing);
});

it('reads the insights of a project', async () => {
  await features.given(ofDefault('lamp'), ofDefault('dusty', { stale: true, type: 'experiment' }));
  expect(await features.call(GetProjectInsights, { params })).toMatchObject({
    featureTypeCounts: [
      { type: 'experiment', count: 1 },
      { type: 'release', count: 1 },
    ],
    health: { rating: 50, activeCount: 1, potentiallyStaleCount: 0, staleCount: 1 },
    leadTime: { projectAverage: 0, features: [] },
    members: { currentMembers: 3, change: 1 },
  });
});

it('has the time to production of each of the last twelve months, as the median of what came there then', async () => {
  const names = ['first', 'second', 'third', 'fourth', 'fifth'];
  await features.given(...names.map((name) => ofDefault(name)));
  const setDates = (name: string, month: number, days: number) =>
    features.database.transaction(({ query }) =>
      query(
        `update feature set created_at = at - interval '${days} days', production_at = at
       from (select date_trunc('month', now() at time zone 'UTC') at time zone 'UTC' - interval '${month} months' + interval '1 hour' as at) as moment
       where name = '${name}'`,
      ),
    );
  await setDates('first', 0, 2);
  await setDates('second', 0, 3);
  await setDates('third', 0, 90);
  await setDates('fourth', 11, 1.5);
  await setDates('fifth', 12, 400);
  const { timeToProduction = [] } = await features.call(GetProjectStatus, { params });
  expect(timeToProduction).toHaveLength(12);
  expect(timeToProduction.at(-1)).toEqual({
    month: new Date().toISOString().slice(0, 7),
    features: 3,
    medianDays: 3,
  });
  expect(timeToProduction[0]).toMatchObject({ features: 1, medianDays: 1.5 });
  expect(
    timeToProduction.slice(1, -1).every(({ features: count, medianDays }) => count === 0 && medianDays === null),
  ).toBe(true);
});

it('reads the status of a project, with the time that its features spend in each stage of their life', async () => {
  const entered = (stage: 'initial' | 'pre-live' | 'live', days: number) => ({ stage, enteredStageAt: daysAgo(days) });
  await features.given(
    ofDefault('used', { lifecycle: [entered('initial', 10), entered('pre-live', 6), entered('live', 1)] }),
    ofDefault('fresh', { stale: true, lifecycle: [entered('initial', 2)] }),
    ofDefault('gone', {
      archivedAt: daysAgo(1),
      lifecycle: [entered('initial', 4), { stage: 'archived', enteredStageAt: daysAgo(1) }],
    }),
  );
  await features.call(CreateSegment, { body: { name: 'own', project: 'default', constraints: [] } });
  expect(await features.call(GetProjectStatus, { params })).toEqual({
    activityCountByDate: [{ date: '2026-11-22', count: 7 }],
    health: { current: 50 },
    technicalDebt: { current: 50 },
    resources: { apiTokens: 1, members: 3, segments: 1 },
    staleFlags: { total: 1 },
    lifecycleSummary: {
      initial: { averageDays: 3, currentFlags: 1 },
      preLive: { averageDays: 5, currentFlags: 0 },
      live: { averageDays: 1, currentFlags: 1 },
      completed: { averageDays: null, currentFlags: 0 },
      archived: { currentFlags: 1, last30Days: 1 },
    },
    timeToProduction: expect.any(Array),
  });
});

it('shows a caller the projects with a permission of theirs, their features, the owners and the administrators', async () => {
  await features.given(
    ofDefault('made', { createdBy: aUserReference(7, 'Someone'), createdAt: daysAgo(2) }),
    ofDefault('marked', { createdAt: daysAgo(1) }),
    aFeature({ name: 'foreign' }),
  );
  await features.call(AddFavoriteFeature, { params: { ...params, featureName: 'marked' } }, someone);
  const dashboard = await features.call(GetPersonalDashboard, {}, someone);
  expect(dashboard).toEqual({
    projects: [{ id: 'default', name: 'Default', health: 100, memberCount: 3, featureCount: 2 }],
    flags: [
      { name: 'marked', type: 'release', project: 'default' },
      { name: 'made', type: 'release', project: 'default' },
    ],
    projectOwners: [ada],
    admins: [{ id: 1, name: 'mia' }],
  });
  const ofMia = await features.call(GetPersonalDashboard, {}, mia);
  expect(ofMia.projects.map(({ id }) => id)).toEqual(['default', 'shop']);
  const hidden = { ...someone, hiddenProjects: ['default'] };
  const nothing = { projects: [], flags: [], projectOwners: [] };
  expect(await features.call(GetPersonalDashboard, {}, hidden)).toMatchObject(nothing);
});

it('shows a caller a project with its newest events and the roles of the caller', async () => {
  await features.given(ofDefault('lamp'), ofDefault('dusty', { stale: true }));
  expect(await features.call(GetPersonalDashboardProject, { params }, someone)).toMatchObject({
    onboardingStatus: { status: 'first-flag-created', feature: 'dusty' },
    insights: { avgHealthCurrentWindow: null, totalFlags: 2, activeFlags: 1, staleFlags: 1, health: 50 },
    latestEvents: [{ id: 4, createdBy: 'mia', createdByImageUrl: expect.stringMatching(/^https:/) }],
    owners: [ada],
    roles: [{ id: 4, name: 'Owner', type: 'project' }],
  });
});

it('returns when a project was last used and last changed', async () => {
  await features.given(ofDefault('lamp'));
  const [before] = (await features.call(ListProjects, {})).projects;
  expect(before).toMatchObject({ lastReportedFlagUsage: null, lastUpdatedAt: activityOfDefault.lastEventAt });
  await report(callerWith({ permission: 'CLIENT', project: 'default', environment: 'production' }), 'lamp');
  const [after, shop] = (await features.call(ListProjects, {})).projects;
  expect(after).toMatchObject({ lastReportedFlagUsage: expect.any(String) });
  expect(shop).toMatchObject({ lastReportedFlagUsage: null, lastUpdatedAt: null });
});

it('finds the creators of features in visible projects, by a part of the name and page by page', async () => {
  await features.given(
    ofDefault('one', { createdBy: aUserReference(7, 'Zoe') }),
    ofDefault('two', { createdBy: aUserReference(8, 'anna%') }),
    aFeature({ name: 'three', createdBy: aUserReference(9, 'Anton') }),
  );
  const find = (query: object, caller = lee) => features.call(SearchFlagCreators, { query }, caller);
  expect(await find({})).toEqual({
    flagCreators: [
      { id: 8, name: 'anna%' },
      { id: 9, name: 'Anton' },
      { id: 7, name: 'Zoe' },
    ],
    total: 3,
  });
  expect(await find({ q: 'AN', limit: 1, offset: 1 })).toEqual({ flagCreators: [{ id: 9, name: 'Anton' }], total: 2 });
  expect(await find({ q: '%' })).toMatchObject({ total: 1 });
  expect(await find({ q: 'an' }, { ...lee, hiddenProjects: ['shop'] })).toMatchObject({ total: 1 });
});

it('replies 404 for pages of an unknown project', async () => {
  const moon = { params: { projectId: 'moon' } };
  for (const operation of [GetProjectInsights, GetProjectStatus, GetPersonalDashboardProject]) {
    await expect(features.call(operation, moon)).rejects.toMatchObject({ kind: 'NotFoundError' });
  }
});
