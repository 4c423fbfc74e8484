import type { AppliedChanges, Caller, ChangeAction, Permission } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, anApprovalBy, aRequest, lee, mia, noon } from '../../test/builders.ts';
import type { ChangeRequest } from '../requests/change-request.ts';
import { finishApplyAttempt, requireSegmentPermissions } from './apply-attempt.ts';

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

describe('a change request that changes a segment', () => {
  const kim = (...grants: Caller['grants']): Caller => ({ id: 9, name: 'kim', grants });
  const changing = (action: ChangeAction, project: string | null) =>
    aRequest({
      changes: [aChange({ action, feature: null, segment: { id: 4, name: 'beta' }, snapshot: { id: 4, project } })],
    });

  it.each<[ChangeAction, Permission]>([
    ['updateSegment', 'UPDATE_SEGMENT'],
    ['deleteSegment', 'DELETE_SEGMENT'],
  ])('of all projects is applied by users who may do so directly (%s takes %s)', (action, permission) => {
    const request = changing(action, null);
    const refused = expect.objectContaining({ kind: 'NoAccessError', message: expect.stringContaining(permission) });
    for (const caller of [kim(), kim({ permission, project: 'shop' })]) {
      expect(() => requireSegmentPermissions(request, caller)).toThrow(refused);
    }
    for (const caller of [kim({ permission }), kim({ permission: 'ADMIN' })]) {
      expect(() => requireSegmentPermissions(request, caller)).not.toThrow();
    }
  });

  it('of its own project is applied by whoever may apply the request', () => {
    expect(() => requireSegmentPermissions(changing('updateSegment', 'shop'), kim())).not.toThrow();
  });
});
