import type { ChangeRequest, ChangeRequestReview } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { offeredActions } from './offered-actions.ts';

const nothing: ChangeRequestReview = {
  author: { id: 1 },
  reviewers: [],
  missingApprovals: 1,
  states: [],
  mayEdit: false,
  mayRename: false,
  mayRequestReviewers: false,
  mayRevert: false,
};
const ron = { id: 2, name: 'Ron', status: 'pending', isRequested: false, mayApprove: true } as const;

function offered(state: ChangeRequest['state'], review: Partial<ChangeRequestReview>, isApplicable?: boolean) {
  return offeredActions({ state }, { ...nothing, ...review }, { isApplicable, canCopy: true });
}

describe('what is offered for a change request', () => {
  it('is for its author in review to ask reviewers, and cancelling is in the menu', () => {
    const review = { states: ['Cancelled'], mayRename: true, mayRequestReviewers: true, reviewers: [ron] } as const;
    const author = { ...review, states: [...review.states], reviewers: [...review.reviewers] };
    expect(offered('In review', author)).toEqual({
      primary: 'askReviewers',
      secondary: ['copyLink'],
      inMenu: ['cancel', 'rename'],
    });
    expect(offered('In review', { ...author, reviewers: [{ ...ron, isRequested: true }] })).toMatchObject({
      primary: 'copyLink',
      secondary: ['askReviewers'],
    });
  });

  it('is for a reviewer to approve, and beside it to reject', () => {
    expect(offered('In review', { states: ['Approved', 'Rejected'] })).toMatchObject({
      primary: 'approve',
      secondary: ['reject', 'copyLink'],
    });
  });

  it('is nothing but the link for people whom it does not concern', () => {
    expect(offered('In review', {})).toEqual({ primary: undefined, secondary: ['copyLink'], inMenu: [] });
  });

  it('is to apply what is approved, unless it cannot be applied as it is', () => {
    const states: ChangeRequestReview['states'] = ['Applied', 'Scheduled', 'Rejected', 'Approved'];
    expect(offered('Approved', { states })).toMatchObject({
      primary: 'apply',
      secondary: ['schedule', 'copyLink'],
      inMenu: ['reject'],
    });
    expect(offered('Approved', { states }, false)).toMatchObject({ primary: undefined, secondary: ['copyLink'] });
  });

  it('is to wait for the time that is set, which can be another one', () => {
    expect(offered('Scheduled', { states: ['Applied', 'Scheduled', 'Rejected'] })).toMatchObject({
      primary: undefined,
      secondary: ['schedule', 'apply', 'copyLink'],
    });
  });

  it('never ends the request by its primary button', () => {
    const everything: Partial<ChangeRequestReview> = {
      states: ['In review', 'Approved', 'Applied', 'Cancelled', 'Rejected', 'Scheduled'],
      reviewers: [ron],
      mayRename: true,
      mayRequestReviewers: true,
      mayRevert: true,
    };
    for (const state of ['Draft', 'In review', 'Approved', 'Scheduled', 'Applied', 'Cancelled', 'Rejected'] as const) {
      expect(['cancel', 'reject', 'revert']).not.toContain(offered(state, everything).primary);
    }
  });
});
