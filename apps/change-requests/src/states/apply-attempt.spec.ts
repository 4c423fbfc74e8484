import type { AppliedChanges } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, anApprovalBy, aRequest, lee, mia, noon } from '../../test/builders.ts';
import type { ChangeRequest } from '../requests/change-request.ts';
import { finishApplyAttempt } from './apply-attempt.ts';

function applying(scheduled: boolean): ChangeRequest {
  return aRequest({
    state: scheduled ? 'Scheduled' : 'Approved',
    changes: [aChange({ action: 'updateEnabled' })],
    approvals: [anApprovalBy(lee)],
    schedule: scheduled ? { status: 'pending', scheduledAt: noon, by: mia, reason: null, snapshots: {} } : null,
    applying: { by: mia, since: noon, scheduled },
    attempts: 1,
  });
}
function resultOf(outcome: AppliedChanges['outcome'], message?: string): AppliedChanges {
  return {
    outcome,
    conflicts: message === undefined ? [] : [{ code: 'feature-archived', message }],
    inverse: [],
  };
}
function finish(scheduled: boolean, result: AppliedChanges) {
  return finishApplyAttempt(applying(scheduled), result, new Date(noon));
}

describe('the end of an attempt to apply a change request', () => {
  it.each([false, true])('leaves an applied request without a schedule (it had one: %s)', (isScheduled) => {
    expect(finish(isScheduled, resultOf('applied')).request).toMatchObject({
      state: 'Applied',
      schedule: null,
      applying: null,
    });
  });

  it('suspends a scheduled request that would overwrite newer edits, with the reason', () => {
    expect(finish(true, resultOf('overwrites', 'Strategy was changed')).request).toMatchObject({
      state: 'Scheduled',
      schedule: { status: 'suspended', reason: 'Strategy was changed' },
    });
  });

  it('lets a scheduled request in conflict fail, with the first conflict as the reason', () => {
    expect(finish(true, resultOf('conflict', 'Feature has been archived')).request).toMatchObject({
      state: 'Scheduled',
      schedule: { status: 'failed', reason: 'conflicts: Feature has been archived (1 in total)' },
    });
  });

  it.each(['conflict', 'overwrites'] as const)(
    'returns a request that a user applies to its state after %s',
    (outcome) => {
      const { request, events } = finish(false, resultOf(outcome, 'Feature has been archived'));
      expect(request).toMatchObject({ state: 'Approved', applying: null });
      expect(events).toEqual([]);
    },
  );
});
