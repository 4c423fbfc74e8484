import { describe, expect, it } from 'vitest';
import { anApprovalBy, aRequest, kim, lee, mia, noon } from '../../test/builders.ts';
import { reasonToTakeBack, takeBackApprovals } from './approvals.ts';

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
    },
  );

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
