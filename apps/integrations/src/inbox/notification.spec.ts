import type { Event } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { noticesOf, noticeOfToken, type People, type PeopleOfChangeRequest } from './notification.ts';

const [lee, rita, ada, mia] = [2, 3, 4, 5];
const request: PeopleOfChangeRequest = {
  uid: 'uid-of-the-request',
  title: 'Summer sale',
  state: 'In review',
  author: lee,
  reviewers: [rita, ada],
  participants: [rita],
};
const people: People = {
  changeRequests: new Map([[7, request]]),
  followers: {
    features: [{ name: 'banner', createdBy: lee, favoriteOf: [mia] }],
    productionEnvironments: ['production'],
  },
};

function anEvent(overrides: Partial<Event>): { readonly uid: string; readonly event: Event } {
  const event: Event = {
    id: 12,
    createdAt: '2026-11-28T08:00:00.000Z',
    type: 'feature-environment-enabled',
    createdBy: 'ada',
    createdByUserId: ada,
    environment: 'production',
    project: 'shop',
    featureName: null,
    data: { changeRequestId: 7 },
    preData: null,
    tags: [],
    label: null,
    summary: '**ada** did something',
    ...overrides,
  };
  return { uid: 'uid-of-the-event', event };
}
const told = (overrides: Partial<Event>, who = people) => {
  const notices = noticesOf(anEvent(overrides), who).map(({ kind, userIds }) => [kind, userIds]);
  return notices.length > 1 ? notices : (notices[0] ?? 'nobody');
};
const keyOf = (overrides: Partial<Event>, who = people) => noticesOf(anEvent(overrides), who)[0]?.key;

describe('of a change request', () => {
  it.each<[Event['type'], Partial<Event>, unknown]>([
    ['change-request-created', {}, 'nobody'],
    ['change-request-sent-to-review', { createdByUserId: lee }, ['review-requested', [rita, ada]]],
    ['change-request-approved', {}, ['change-request-approved', [lee]]],
    ['change-request-rejected', {}, ['change-request-rejected', [lee]]],
    ['change-request-cancelled', { createdByUserId: lee }, 'nobody'],
    ['change-request-scheduled', {}, ['change-request-scheduled', [lee]]],
    ['change-request-applied', {}, ['change-request-applied', [lee]]],
    ['change-request-applied', { createdByUserId: lee }, 'nobody'],
    ['change-request-scheduled-application-success', {}, ['change-request-applied', [lee, ada]]],
    ['change-request-scheduled-application-failure', {}, ['change-request-failed', [lee, ada]]],
    [
      'change-request-schedule-suspended',
      { createdByUserId: -1337, preData: { scheduledBy: ada } },
      ['change-request-failed', [lee, ada]],
    ],
    ['change-request-comment-added', {}, ['change-request-commented', [lee, rita]]],
    ['change-request-comment-added', { createdByUserId: lee }, ['change-request-commented', [rita]]],
  ])('%s %o is told to %o', (type, event, expected) => {
    expect(told({ type, ...event })).toEqual(expected);
  });

  it('an approval is told as long as more are missing, and the last one as the approved request', () => {
    const approval = (approvals: number) =>
      told({ type: 'change-request-approval-added', data: { changeRequestId: 7, approvals, minApprovals: 2 } });
    expect(approval(1)).toEqual(['change-request-approved', [lee]]);
    expect(approval(2)).toBe('nobody');
  });

  it('further reviewers alone are asked, and only while it is in review', () => {
    const updated = {
      type: 'change-request-requested-approvers-updated' as const,
      createdByUserId: lee,
      data: { changeRequestId: 7, reviewers: [rita, mia] },
      preData: { reviewers: [rita] },
    };
    expect(told(updated)).toEqual(['review-requested', [mia]]);
    const summary = '**lee** updated the requested reviewers of change request [#7](/projects/shop/change-requests/7)';
    expect(noticesOf(anEvent({ ...updated, summary }), people)).toMatchObject([
      { summary: '**lee** asks you to review change request [#7](/projects/shop/change-requests/7)' },
    ]);
    const draft: People = { ...people, changeRequests: new Map([[7, { ...request, state: 'Draft' }]]) };
    expect(told(updated, draft)).toBe('nobody');
  });

  it('nobody is asked for a review of a request that was decided meanwhile', () => {
    const approved: People = { ...people, changeRequests: new Map([[7, { ...request, state: 'Approved' }]]) };
    expect(told({ type: 'change-request-sent-to-review', createdByUserId: lee }, approved)).toBe('nobody');
  });

  it('its return to review is told to its author and to who has scheduled it, and asks reviewers again', () => {
    const returned = (preData: Record<string, unknown>) =>
      told({ type: 'change-request-sent-to-review', createdByUserId: -1337, preData });
    expect(returned({ state: 'Scheduled', scheduledBy: mia })).toEqual([
      ['review-requested', [rita, ada]],
      ['change-request-returned', [lee, mia]],
    ]);
    expect(returned({ state: 'Approved' })).toEqual([
      ['review-requested', [rita, ada]],
      ['change-request-returned', [lee]],
    ]);
    // Who is asked for a review again knows by that.
    expect(returned({ state: 'Scheduled', scheduledBy: ada })).toContainEqual(['change-request-returned', [lee]]);
    expect(returned({ state: 'Draft' })).toEqual(['review-requested', [rita, ada]]);
  });

  it('whose approval an edit has removed is asked for a review again, also who was not requested', () => {
    const edited = { createdByUserId: lee, preData: { state: 'In review', approvedBy: [mia] } };
    expect(told({ type: 'change-request-sent-to-review', ...edited })).toEqual(['review-requested', [rita, ada, mia]]);
  });

  it('a scheduled application is one thing to tell, although it has two events', () => {
    const types = ['change-request-applied', 'change-request-scheduled-application-success'] as const;
    expect(new Set(types.map((type) => keyOf({ type }))).size).toBe(1);
  });

  it('a number that a restored database has given again is another one to tell', () => {
    const again: People = { ...people, changeRequests: new Map([[7, { ...request, uid: 'another' }]]) };
    const flagOf: Partial<Event> = { featureName: 'banner', groupType: 'change-request', groupId: '7' };
    for (const event of [{ type: 'change-request-applied' as const }, flagOf])
      expect(keyOf(event, again)).not.toBe(keyOf(event));
  });

  it('nobody is told of one that does not exist any more', () => {
    expect(told({ type: 'change-request-approved', data: { changeRequestId: 8 } })).toBe('nobody');
  });

  it('the notification links to it, with its title, and the comment or the reason', () => {
    const data = { changeRequestId: 7, comment: 'x'.repeat(600) };
    const [notice] = noticesOf(anEvent({ type: 'change-request-rejected', data }), people);
    expect(notice).toMatchObject({
      title: 'Summer sale',
      path: '/projects/shop/change-requests/7',
      changeRequestId: 7,
    });
    expect(notice?.comment).toHaveLength(500);
  });
});

describe('of a flag', () => {
  const change = { featureName: 'banner', data: null };

  it('changes in production are told to who created it and whose favourite it is, except to who made them', () => {
    expect(told(change)).toEqual(['flag-changed', [lee, mia]]);
    expect(told({ ...change, createdByUserId: lee })).toEqual(['flag-changed', [mia]]);
    expect(told({ ...change, environment: 'development' })).toBe('nobody');
    expect(told({ ...change, type: 'feature-archived', environment: null })).toEqual(['flag-changed', [lee, mia]]);
    expect(told({ ...change, featureName: 'other' })).toBe('nobody');
  });

  it('several changes of one act are one thing to tell, and nothing new to the author of the change request', () => {
    const applied = { ...change, groupType: 'change-request', groupId: '7' };
    expect(told(applied)).toEqual(['flag-changed', [mia]]);
    const keys = (['feature-strategy-add', 'feature-environment-enabled'] as const).map((type) =>
      keyOf({ ...applied, type }),
    );
    expect(new Set(keys).size).toBe(1);
  });

  it('becoming stale is told, also where time alone did it', () => {
    const stale = {
      ...change,
      type: 'feature-potentially-stale-on' as const,
      environment: null,
      createdByUserId: -1337,
    };
    expect(told(stale)).toEqual(['flag-stale', [lee, mia]]);
    expect(noticesOf(anEvent(stale), people)[0]?.createdBy).toBeNull();
  });
});

describe('of a token', () => {
  const now = new Date('2026-11-28T08:00:00.000Z');
  const day = 86_400_000;
  const token = (livesDays: number, lifetimeDays: number, name = 'ci', projects = ['*']) =>
    noticeOfToken(
      {
        id: 'a',
        isPersonal: true,
        name,
        projects,
        userId: lee,
        livesMs: livesDays * day,
        lifetimeMs: lifetimeDays * day,
        expiresAt: '2026-12-05T08:00:00.000Z',
      },
      now,
    );

  it('its end is told seven days before and one day before, each once', () => {
    expect(token(8, 90)).toBeUndefined();
    expect(token(7, 90)?.key).toBe(token(2, 90)?.key);
    expect(token(1, 90)?.key).toBe(token(0.1, 90)?.key);
    expect(token(7, 90)?.key).not.toBe(token(1, 90)?.key);
    expect(token(7, 90)).toMatchObject({ userIds: [lee], path: '/profile' });
  });

  it('is not told to who has just created it for less than that', () => {
    expect(token(3, 3)).toBeUndefined();
    expect(token(0.5, 3)).toBeDefined();
    expect(token(0.5, 1)).toBeUndefined();
  });

  it('is hidden with the project that it is for', () => {
    expect(token(1, 90, 'ci', ['shop'])?.project).toBe('shop');
    expect(token(1, 90, 'ci', ['shop', 'bank'])?.project).toBeNull();
    expect(token(1, 90, 'ci', ['*'])?.project).toBeNull();
  });

  it('has its name as it is, whatever it is', () => {
    expect(token(1, 90, 'a*b](http://x)')?.summary).toContain(String.raw`**a\*b\](http://x)**`);
  });
});
