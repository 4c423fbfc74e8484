import type { Caller, ChangeRequestPreview, ConflictCode } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import { aChange, anApprovalBy, aRequest, lee, mia, noon } from '../../test/builders.ts';
import type { ChangeRequest } from '../requests/change-request.ts';
import { beginScheduledRun, type ScheduledRunFacts, suspensionReason } from './scheduled-run.ts';

function scheduled(request: Partial<ChangeRequest> = {}): ChangeRequest {
  return aRequest({
    state: 'Scheduled',
    changes: [aChange({ action: 'updateEnabled' })],
    approvals: [anApprovalBy(lee)],
    schedule: { status: 'pending', scheduledAt: noon, by: mia, reason: null, snapshots: {} },
    ...request,
  });
}
const minute = 60_000;
const applier: Caller = {
  ...mia,
  grants: [{ permission: 'APPLY_CHANGE_REQUEST', project: 'shop', environment: 'production' }],
};
const facts: ScheduledRunFacts = {
  scheduler: { kind: 'user', caller: applier },
  delayMs: 0,
  conflicts: [],
  requirement: { minApprovals: 1, affectedEnvironments: ['production'] },
  now: new Date(noon),
};

describe('at its scheduled time, a change request', () => {
  it.each<readonly [string, Partial<ScheduledRunFacts>]>([
    ['by a user who may apply it', {}],
    ['by an admin token, which belongs to no user', { scheduler: { kind: 'admin token' } }],
    ['a quarter of an hour late', { delayMs: 15 * minute }],
  ])('that was scheduled is applied: %s', (_, more) => {
    expect(beginScheduledRun(scheduled(), { ...facts, ...more })).toMatchObject({
      isBegun: true,
      request: { state: 'Scheduled', applying: { by: mia, scheduled: true, since: noon }, attempts: 1 },
    });
  });

  it('is applied by the username of its user too, by which searches for events find it', () => {
    const scheduler = { kind: 'user', caller: { ...applier, username: 'mia' } } as const;
    expect(beginScheduledRun(scheduled(), { ...facts, scheduler })).toMatchObject({
      request: { applying: { by: { ...mia, username: 'mia' } } },
    });
  });

  it.each<readonly [string, Partial<ScheduledRunFacts>, RegExp]>([
    ['when it is more than 15 minutes late', { delayMs: 15 * minute + 1 }, /^it could not begin within 15 minutes/],
    [
      'when its user may no longer apply it',
      { scheduler: { kind: 'user', caller: { ...applier, grants: [] } } },
      /^the user who scheduled it \(user id: 7\) no longer has the permission to apply it$/,
    ],
    [
      'when it would delete a segment that another request uses',
      { conflicts: [{ code: 'segment-in-use', message: 'Segment is in use', segment: 4 }] },
      /^conflicts: Segment is in use \(1 in total\)$/,
    ],
  ])('fails with the reason %s', (_, more, reason) => {
    expect(beginScheduledRun(scheduled(), { ...facts, ...more })).toMatchObject({
      isBegun: false,
      request: {
        state: 'Scheduled',
        applying: null,
        schedule: { status: 'failed', reason: expect.stringMatching(reason) },
      },
      events: [{ type: 'change-request-scheduled-application-failure' }],
    });
  });

  it.each<readonly [string, Partial<ChangeRequest>, Partial<ScheduledRunFacts>, RegExp]>([
    [
      'when its user was deleted',
      {},
      { scheduler: { kind: 'deleted user' } },
      /^The user who scheduled .* deleted or disabled$/,
    ],
    ['when it has lost an approval', { approvals: [] }, {}, /no longer has the required approvals$/],
  ])('is suspended with the reason %s', (_, request, more, reason) => {
    expect(beginScheduledRun(scheduled(request), { ...facts, ...more })).toMatchObject({
      isBegun: false,
      request: {
        state: 'Scheduled',
        applying: null,
        schedule: { status: 'suspended', reason: expect.stringMatching(reason) },
      },
      events: [{ type: 'change-request-schedule-suspended' }],
    });
  });
});

const update = aChange({ id: 1, action: 'updateStrategy', payload: { id: 'first' } });
const rename = aChange({ id: 2, action: 'updateSegment', segment: { id: 4, name: 'beta' }, payload: { id: 4 } });
const scheduledOfSuspensionReason = aRequest({ state: 'Scheduled', changes: [update, rename] });
const unchanged = { before: null, after: null, diff: [] };

function previewOf(
  feature: { conflict?: string; conflictCode?: ConflictCode },
  ofUpdate: object = {},
  ofRename: object = {},
): ChangeRequestPreview {
  return {
    features: [
      { name: 'checkout', ...unchanged, ...feature, changes: [{ id: 1, action: update.action, ...ofUpdate }] },
    ],
    segments: [{ id: 4, name: 'beta', ...unchanged, changes: [{ id: 2, action: rename.action, ...ofRename }] }],
    applicable: false,
  };
}
function conflict(conflictCode: ConflictCode) {
  return { conflict: 'As features words it', conflictCode };
}

describe('the reason to suspend a schedule', () => {
  it.each([
    ['feature-archived', 'Feature flag checkout was archived'],
    ['feature-deleted', 'Feature flag checkout was deleted'],
    ['feature-moved', 'Feature flag checkout was moved to another project'],
    ['environment-unlinked', 'Environment production was removed from project shop'],
  ] as const)('names the feature or environment for the conflict %s', (code, reason) => {
    expect(suspensionReason(scheduledOfSuspensionReason, previewOf(conflict(code)))).toBe(reason);
  });

  it('names a deleted strategy', () => {
    const preview = previewOf({}, conflict('strategy-deleted'));
    expect(suspensionReason(scheduledOfSuspensionReason, preview)).toBe(
      'Strategy first of feature flag checkout was deleted',
    );
  });

  it('names a deleted segment', () => {
    const preview = previewOf({}, {}, conflict('segment-missing'));
    expect(suspensionReason(scheduledOfSuspensionReason, preview)).toBe('Segment 4 (beta) was deleted');
  });

  it('is the text of the features service for any other conflict', () => {
    expect(suspensionReason(scheduledOfSuspensionReason, previewOf(conflict('project-gone')))).toBe(
      'As features words it',
    );
    expect(suspensionReason(scheduledOfSuspensionReason, previewOf({}, conflict('strategy-limit')))).toBe(
      'As features words it',
    );
  });

  it('names what was edited if applying would undo the edit', () => {
    const preview = previewOf({}, { overwrites: [{ property: 'title' }] });
    expect(suspensionReason(scheduledOfSuspensionReason, preview)).toContain('would overwrite that change');
  });

  it('is absent without a conflict', () => {
    expect(suspensionReason(scheduledOfSuspensionReason, previewOf({}))).toBeUndefined();
  });
});
