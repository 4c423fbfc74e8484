import { describe, expect, it } from 'vitest';
import { requireActiveReviewers } from './requested-reviewers.ts';

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
