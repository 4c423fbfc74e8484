import {
  type Caller,
  CountUnreadNotifications,
  type Event,
  GetNotificationPreferences,
  ListNotifications,
  MarkAllNotificationsRead,
  MarkNotification,
  notificationKinds,
  type RequestOf,
  SetNotificationPreference,
} from '@bunting/contracts';
import { type Log, openLog } from '@bunting/runtime';
import { eventually, recordingLog } from '@bunting/testing';
import { Registry } from 'prom-client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { logMarkStore } from '../delivery/log-mark-store.ts';
import { startInbox } from './background.ts';
import { inboxStore } from './inbox-store.ts';
import { type StartedIntegrations, startIntegrations } from '../../test/started-integrations.ts';

const lee: Caller = { id: 2, name: 'lee', grants: [] };
const rita: Caller = { id: 3, name: 'rita', grants: [] };

let service: StartedIntegrations;
beforeAll(async () => {
  service = await startIntegrations();
});
afterAll(() => service.stop());
beforeEach(async () => {
  service.people.user(lee.id, 'lee');
  service.people.user(rita.id, 'rita');
  service.people.request(7, { author: lee.id, reviewers: [rita.id] });
  service.people.follow('banner', lee.id);
  await hasTold();
});
afterEach(async () => {
  await service.database.query({ text: 'truncate notification, notification_preference' });
});

const inbox = (caller = lee, query: RequestOf<typeof ListNotifications>['query'] = {}) =>
  service.call(ListNotifications, { query }, caller);
const unread = async (caller = lee) => (await service.call(CountUnreadNotifications, {}, caller)).unread;

/** Waits until people are told of everything in the log. */
const hasTold = () =>
  eventually(async () => {
    const [row] = await service.database.query<{ position: number }>({ text: 'select position from inbox_position' });
    expect(row?.position).toBe(service.log.head);
  });
/** A second process that tells people, on the same database. */
const aReplica = (metrics = new Registry(), log: Log = openLog('silent')) =>
  startInbox({
    bus: service.bus,
    store: inboxStore(service.database),
    marks: logMarkStore(service.database),
    intervalMs: 20,
    maxBackoffMs: 5,
    metrics,
    log,
  });
async function happened(...events: readonly Partial<Event>[]) {
  const entries = service.log.append(...events);
  await hasTold();
  return entries;
}
const aReview: Partial<Event> = {
  type: 'change-request-sent-to-review',
  createdBy: 'lee',
  createdByUserId: lee.id,
  featureName: null,
  data: { changeRequestId: 7 },
};
const anApproval: Partial<Event> = {
  ...aReview,
  type: 'change-request-approved',
  createdBy: 'rita',
  createdByUserId: rita.id,
};

it('people find what concerns them, with who did what, where and when, newest first', async () => {
  await happened(aReview, anApproval, {});
  expect(await inbox(rita)).toMatchObject({
    notifications: [
      { kind: 'review-requested', createdBy: 'lee', createdByUserId: lee.id, title: 'Summer sale', isRead: false },
    ],
    total: 1,
    unread: 1,
  });
  expect(await inbox(lee)).toMatchObject({
    notifications: [
      { kind: 'flag-changed', title: 'banner', path: '/projects/shop/features/banner', environment: 'production' },
      { kind: 'change-request-approved', path: '/projects/shop/change-requests/7', comment: null },
    ],
    unread: 2,
  });
});

it('those of an earlier release have no id of who did it, and the name by which the event told', async () => {
  await happened({ ...anApproval, createdBy: 'rita@example.com' });
  await service.database.query({ text: 'update notification set created_by_id = null' });
  expect((await inbox(lee)).notifications).toMatchObject([{ createdBy: 'rita@example.com', createdByUserId: null }]);
});

it('pages and filters by kind and by what is unread', async () => {
  await happened(anApproval, {}, { type: 'feature-archived', environment: null });
  const first = await inbox(lee, { limit: 2 });
  expect(first.notifications.map(({ kind }) => kind)).toEqual(['flag-changed', 'flag-changed']);
  const second = await inbox(lee, { limit: 2, before: first.notifications.at(-1)?.id });
  expect(second).toMatchObject({ notifications: [{ kind: 'change-request-approved' }], total: 3 });
  expect(await inbox(lee, { kind: 'change-request-approved' })).toMatchObject({ total: 1, unread: 3 });
  const params = { id: second.notifications[0]?.id ?? 0 };
  await service.call(MarkNotification, { params, body: { isRead: true } }, lee);
  expect(await inbox(lee, { unread: true })).toMatchObject({ total: 2, unread: 2 });
});

it('one and all are marked as read, what came meanwhile stays unread, and one can be unread again', async () => {
  await happened(anApproval, {});
  const { notifications } = await inbox();
  await happened({ type: 'feature-archived', environment: null });
  await service.call(MarkAllNotificationsRead, { body: { upTo: notifications[0]?.id ?? 0 } }, lee);
  expect(await unread()).toBe(1);
  const params = { id: notifications[0]?.id ?? 0 };
  await service.call(MarkNotification, { params, body: { isRead: false } }, lee);
  expect(await unread()).toBe(2);
});

it('all of a kind are marked as read, and neither other kinds nor what one may not see', async () => {
  await happened(anApproval, {}, { project: 'bank' });
  const { notifications } = await inbox();
  const upTo = notifications[0]?.id ?? 0;
  const outsider = { ...lee, hiddenProjects: ['bank'] };
  await service.call(MarkAllNotificationsRead, { body: { upTo, kind: 'flag-changed' } }, outsider);
  const left = (await inbox(lee, { unread: true })).notifications.map(({ kind, project }) => [kind, project]);
  expect(left).toEqual([
    ['flag-changed', 'bank'],
    ['change-request-approved', 'shop'],
  ]);
});

it('nobody reads or marks those of others', async () => {
  await happened(anApproval);
  const [own] = (await inbox(lee)).notifications;
  expect((await inbox(rita)).notifications).toEqual([]);
  const params = { id: own?.id ?? 0 };
  await expect(service.call(MarkNotification, { params, body: { isRead: true } }, rita)).rejects.toMatchObject({
    kind: 'NotFoundError',
  });
});

it('those of a project that one may not see any more are not there', async () => {
  await happened(anApproval);
  const outsider = { ...lee, hiddenProjects: ['shop'] };
  expect(await inbox(outsider)).toEqual({ notifications: [], total: 0, unread: 0 });
  expect(await unread(outsider)).toBe(0);
  expect(await unread(lee)).toBe(1);
});

it('service accounts and API tokens without a user have none, which the error says', async () => {
  const refused = { kind: 'ForbiddenError', message: expect.stringContaining('Only people have an inbox') };
  for (const caller of [
    { ...lee, isService: true },
    { ...lee, id: -42 },
  ])
    await expect(unread(caller)).rejects.toMatchObject(refused);
  service.people.user(lee.id, 'lee', { isService: true });
  await happened(anApproval);
  service.people.user(lee.id, 'lee');
  expect(await unread()).toBe(0);
});

it('a kind that a person does not want stays out of the inbox from then on', async () => {
  const preferences = await service.call(GetNotificationPreferences, {}, lee);
  expect(preferences.kinds.map(({ kind }) => kind)).toEqual(notificationKinds);
  expect(preferences.kinds.every((one) => one.inbox)).toBe(true);
  const params = { kind: 'flag-changed' as const };
  const changed = await service.call(SetNotificationPreference, { params, body: { inbox: false } }, lee);
  expect(changed.kinds.filter((one) => !one.inbox)).toMatchObject([{ kind: 'flag-changed' }]);
  await happened({}, anApproval);
  expect(await inbox()).toMatchObject({ notifications: [{ kind: 'change-request-approved' }], total: 1 });
});

it('what one act changes in a flag is one notification, which says what came last', async () => {
  const act = { groupType: 'transaction', groupId: 'a' };
  const [, last] = await happened(
    { ...act, type: 'feature-strategy-add', summary: 'added' },
    { ...act, type: 'feature-archived', environment: null, summary: 'archived' },
  );
  const createdAt = last?.event.createdAt;
  expect((await inbox()).notifications).toMatchObject([
    { kind: 'flag-changed', summary: 'archived', environment: null, createdAt },
  ]);
});

it('who may review is looked for when a review is asked for, and for nothing else that happens to a change request', async () => {
  const before = service.people.looksForReviewers();
  await happened(anApproval, { ...aReview, type: 'change-request-comment-added' });
  expect(service.people.looksForReviewers()).toBe(before);
  await happened(anApproval, aReview);
  expect(service.people.looksForReviewers()).toBe(before + 1);
});

it('a review that is asked for again before it was looked at comes first again, and counts once', async () => {
  await happened(aReview);
  const [first] = (await inbox(rita)).notifications;
  const [again] = await happened(aReview);
  const { notifications } = await inbox(rita);
  expect(notifications).toMatchObject([{ createdAt: again?.event.createdAt, isRead: false }]);
  expect(notifications[0]?.id).toBeGreaterThan(first?.id ?? Infinity);
  await service.call(MarkAllNotificationsRead, { body: { upTo: notifications[0]?.id ?? 0 } }, rita);
  await happened(aReview);
  expect((await inbox(rita)).notifications).toHaveLength(2);
});

it.each<[string, Partial<Event>]>([
  ['given', { ...anApproval, type: 'change-request-approval-added' }],
  ['of no use because the request is closed', { ...aReview, type: 'change-request-cancelled' }],
])('a review counts as read once it is %s, and a later one does not', async (_, event) => {
  await happened(aReview);
  expect(await unread(rita)).toBe(1);
  await happened(event);
  expect(await unread(rita)).toBe(0);
  await happened(event, aReview);
  expect(await unread(rita)).toBe(1);
});

it('changes of flags, however many, take no place from a review that waits for its reader', async () => {
  await happened(aReview);
  await service.database.query({
    text: `insert into notification (user_id, key, kind, happened_at, title, summary, path)
    select 3, 'storm ' || n, 'flag-changed', now(), '', '', '/' from generate_series(1, 600) n`,
  });
  service.people.follow('footer', rita.id);
  await happened({ featureName: 'footer' });
  expect(await inbox(rita)).toMatchObject({ total: 500 });
  expect(await inbox(rita, { kind: 'review-requested' })).toMatchObject({ total: 1 });
});

it('a deleted user has none any more', async () => {
  await happened(anApproval);
  await happened({
    type: 'user-deleted',
    project: null,
    featureName: null,
    environment: null,
    preData: { id: lee.id },
  });
  expect(await inbox()).toMatchObject({ total: 0 });
});

it('no more than the newest 500 of a person are kept, and none for more than 90 days', async () => {
  const flags = Array.from({ length: 60 }, () => ({}));
  await happened(...flags);
  await service.database.query({
    text: `insert into notification (user_id, key, kind, happened_at, title, summary, path)
    select 2, 'older ' || n, 'flag-changed', now(), '', '', '/' from generate_series(1, 500) n`,
  });
  await happened({});
  expect(await inbox()).toMatchObject({ total: 500 });
  await service.database.query({
    text: `update notification set added_at = now() - interval '91 days' where key like 'older%'`,
  });
  const other = aReplica();
  await eventually(async () => expect((await inbox()).total).toBe(1));
  await other.stop();
});

it('what is committed while people are told is left to the next look at the log, so that commits share one', async () => {
  const waited = service.log.pagesWaited;
  service.log.commitMeanwhile(20);
  await happened({});
  service.log.commitMeanwhile(0);
  expect(service.log.pagesWaited - waited).toBe(1);
});

describe('after a crash', () => {
  it('and with several replicas, people are told of everything once', async () => {
    const before = service.log.head;
    const replica = aReplica();
    const types: Event['type'][] = [
      'feature-environment-enabled',
      'feature-strategy-add',
      'feature-environment-disabled',
    ];
    for (let round = 0; round < 20; round++) service.log.append(...types.map((type) => ({ type })));
    await hasTold();
    await replica.stop();
    expect((await inbox()).total).toBe(60);
    // A process that dies before its commit leaves the position where it was; a restored database has an older one.
    await service.database.query({ text: `update inbox_position set position = ${before}, hash = null` });
    await happened({});
    expect((await inbox()).total).toBe(61);
  });

  it('people are told nothing twice when the log was restored, and of what is new in it', async () => {
    service.people.follow('sidebar', rita.id);
    const change = { featureName: 'sidebar' };
    await happened(change, change, change);
    service.log.restoreTo(service.log.head - 1);
    await happened({ ...change, type: 'feature-archived', environment: null }, change);
    const text = "select 1 from notification where title = 'sidebar'";
    expect(await service.database.query({ text })).toHaveLength(5);
  });

  it('people are not told of years ago when nothing is known of the log that was restored', async () => {
    const text = "select 1 from notification where title = 'banner'";
    await happened({}, {}, {});
    await service.database.query({ text: 'truncate notification' });
    await service.database.query({
      text: `update log_mark set id = ${service.log.head}, hash = '${service.log.hashAt(service.log.head)}' where minute = (select max(minute) from log_mark)`,
    });
    await service.database.query({ text: `delete from log_mark where id < ${service.log.head}` });
    service.log.restoreTo(service.log.head - 1);
    await eventually(async () =>
      expect(await logMarkStore(service.database).followed()).toMatchObject({ mark: { id: service.log.head } }),
    );
    await happened({});
    expect(await service.database.query({ text })).toHaveLength(1);
  });

  it('people are told also when so much happens at once that it cannot be looked up together', async () => {
    service.people.followersOfAtMost(1);
    await happened({}, { featureName: 'sidebar' }, { featureName: 'footer' }, { type: 'feature-archived' });
    service.people.followersOfAtMost(Infinity);
    expect(await inbox(lee)).toMatchObject({ total: 2 });
  });

  it('an event whose people are refused again and again holds back nobody for ever, which the log and a counter say', async () => {
    service.people.request(8, { author: lee.id });
    service.people.refuse(8, 'InternalError');
    const metrics = new Registry();
    const { log, warnings } = recordingLog();
    const replica = aReplica(metrics, log);
    const [refused] = await happened({ ...anApproval, data: { changeRequestId: 8 } }, anApproval);
    await replica.stop();
    expect(await inbox(lee)).toMatchObject({
      notifications: [{ kind: 'change-request-approved', changeRequestId: 7 }],
    });
    expect(warnings.join()).toContain(`Nobody is told of event ${refused?.event.id} (change-request-approved)`);
    expect(await metrics.metrics()).toContain('bunting_inbox_events_left_out_total 1');
  });

  it('an outage leaves out no event, however often it is tried, and the lag of the inbox grows meanwhile', async () => {
    service.people.refuse(7, 'ServiceUnavailable');
    const metrics = new Registry();
    const replica = aReplica(metrics);
    const lag = async () => (await metrics.getSingleMetric('bunting_inbox_lag_seconds')?.get())?.values[0]?.value ?? 0;
    const before = service.people.refusals();
    service.log.append(anApproval);
    await eventually(() => expect(service.people.refusals()).toBeGreaterThan(before + 30));
    expect(await unread()).toBe(0);
    const first = await lag();
    expect(await lag()).toBeGreaterThan(first);
    service.people.refuse(7, null);
    await hasTold();
    expect(await unread()).toBe(1);
    await eventually(async () => expect(await lag()).toBeLessThan(first));
    await replica.stop();
  });
});

it('whoever created a token is told before it ends', async () => {
  const day = 86_400_000;
  service.people.tokens([
    {
      id: 'a',
      isPersonal: false,
      name: 'checkout in production',
      projects: ['*'],
      userId: lee.id,
      livesMs: 6.5 * day,
      lifetimeMs: 90 * day,
      expiresAt: '2026-12-05T08:00:00.000Z',
    },
  ]);
  for (let starts = 0; starts < 2; starts++) {
    const looksBefore = service.people.looksAtTokens();
    const other = aReplica();
    await eventually(() => expect(service.people.looksAtTokens()).toBeGreaterThan(looksBefore));
    await other.stop();
    expect((await inbox()).notifications).toMatchObject([{ kind: 'token-expiring', title: 'checkout in production' }]);
  }
  service.people.tokens([]);
});
