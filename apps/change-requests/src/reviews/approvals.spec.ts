import { type ChangeAction, changeActions } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, anApprovalBy, aRequest, kim, lee, mia, noon } from '../../test/builders.ts';
import { reasonToTakeBack, requireActiveReviewers, reviewRequirement, takeBackApprovals } from './approvals.ts';

const now = new Date(noon);
const schedule = { status: 'pending', scheduledAt: noon, by: mia, reason: null, snapshots: {} } as const;
const approvals = [anApprovalBy(lee), anApprovalBy(kim)];
const everybody = { minApprovals: 2, mayApprove: () => true };
const notKim = { minApprovals: 2, mayApprove: (id: number) => id !== kim.id };

describe('approvals', () => {
  it.each([
    ['Approved', aRequest({ state: 'Approved', approvals })],
    ['Scheduled', aRequest({ state: 'Scheduled', approvals, schedule })],
  ])(
    'of a user who may not approve any more are taken back, and a request that was %s is in review',
    (state, before) => {
      const text = reasonToTakeBack(before, notKim)!;
      expect(text).toBe(
        'The approval of a user who may no longer approve (user id: 9) was removed. The change request has 1 of the 2 approvals that it needs now',
      );
      const { request, events } = takeBackApprovals(before, notKim, { id: 5, text }, now);
      expect(request).toMatchObject({
        state: 'In review',
        schedule: null,
        approvals: [anApprovalBy(lee)],
        stateTimestamps: { 'In review': noon },
        comments: [{ text }],
      });
      expect(events).toMatchObject([
        { type: 'change-request-sent-to-review', data: { reason: text }, preData: { state } },
      ]);
      // The author and who has scheduled it are told; who may not approve any more is not asked.
      expect(events[0]?.preData).toEqual(state === 'Scheduled' ? { state, scheduledBy: schedule.by.id } : { state });
    },
  );

  it('that are taken back in review are asked for again, of those who may still give them', () => {
    const before = aRequest({
      state: 'In review',
      approvals: [{ ...anApprovalBy(lee), basis: 'seen' }, anApprovalBy(kim)],
    });
    const { events } = takeBackApprovals(before, { ...notKim, basis: 'now' }, { id: 5, text: 'why' }, now);
    expect(events).toMatchObject([
      { type: 'change-request-sent-to-review', preData: { state: 'In review', approvedBy: [lee.id] } },
    ]);
  });

  it('that are too few for a raised number stay, and the request returns to review', () => {
    const before = aRequest({ state: 'Approved', approvals });
    const facts = { ...everybody, minApprovals: 3 };
    const text = reasonToTakeBack(before, facts)!;
    expect(text).toBe('The change request has 2 of the 3 approvals that it needs now');
    expect(takeBackApprovals(before, facts, { id: 5, text }, now).request).toMatchObject({
      state: 'In review',
      approvals,
    });
  });

  it('beyond the number that is needed are taken back, and the request stays approved', () => {
    const before = aRequest({ state: 'Approved', approvals });
    const facts = { ...notKim, minApprovals: 1 };
    const { request, events } = takeBackApprovals(before, facts, { id: 5, text: 'why' }, now);
    expect(request).toMatchObject({ state: 'Approved', approvals: [anApprovalBy(lee)] });
    expect(events).toEqual([]);
  });

  it.each([
    ['are enough', aRequest({ state: 'Approved', approvals }), everybody],
    ['are not enough yet', aRequest({ state: 'In review', approvals }), { ...everybody, minApprovals: 3 }],
  ])('stay while they %s', (_, request, facts) => {
    expect(reasonToTakeBack(request, facts)).toBeUndefined();
  });

  it.each(['Applied', 'Rejected', 'Cancelled'] as const)('of a request that is %s stay as they were', (state) => {
    expect(reasonToTakeBack(aRequest({ state, approvals }), { ...notKim, minApprovals: 3 })).toBeUndefined();
  });
});

const ofWholeProject: ReadonlySet<ChangeAction> = new Set([
  'archiveFeature',
  'addDependency',
  'deleteDependency',
  'updateSegment',
  'deleteSegment',
  'updateSegmentList',
]);
function protection(environment: string, requiredApprovals: number) {
  return { environment, requiredApprovals };
}

describe.each(changeActions)('a request in production with the change %s', (action) => {
  const isWide = ofWholeProject.has(action);
  const request = aRequest({ changes: [aChange({ action })] });

  it.each([
    ['nothing', [], 1, 1],
    ['its environment', [protection('production', 2)], 2, 2],
    ['another environment', [protection('staging', 3)], 1, 3],
    ['several', [protection('production', 2), protection('qa', 4), protection('staging', 3)], 2, 4],
  ])('needs the approvals of the strictest environment that it affects, where %s is protected', (_, list, own, all) => {
    expect(reviewRequirement(request, list)).toEqual({
      minApprovals: isWide ? all : own,
      affectedEnvironments: list
        .map(({ environment }) => environment)
        .filter((name) => isWide || name === 'production'),
    });
  });
});

describe('a request', () => {
  const changes = [aChange({ action: 'updateEnabled' })];

  it('needs the higher of the numbers at its creation and of now', () => {
    const needed = (atCreation: number, now: number) =>
      reviewRequirement(aRequest({ changes, minApprovals: atCreation }), [protection('production', now)]).minApprovals;
    expect([needed(1, 3), needed(3, 1), needed(2, 2)]).toEqual([3, 3, 2]);
  });

  it('needs fewer approvals again without the change that affected other environments', () => {
    const [change] = changes;
    const list = [protection('staging', 3)];
    const wide = aRequest({ changes: [change!, aChange({ id: 2, action: 'archiveFeature' })] });
    expect(reviewRequirement(wide, list).minApprovals).toBe(3);
    expect(reviewRequirement({ ...wide, changes }, list).minApprovals).toBe(1);
  });
});

describe('the reviewers whose approval is requested', () => {
  it('are active users, and may be none', () => {
    expect(() => requireActiveReviewers([3, 4], new Set([4, 3]))).not.toThrow();
    expect(() => requireActiveReviewers([], new Set())).not.toThrow();
  });

  it('are refused by the first one who is no active user', () => {
    expect(() => requireActiveReviewers([3, 9, 8], new Set([3]))).toThrow(
      'The `/body/reviewers/1` property must be the id of an active user. You provided 9.',
    );
  });
});
