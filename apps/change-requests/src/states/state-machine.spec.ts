import { type ChangeRequestState, changeRequestStates, Refusal } from '@bunting/contracts';
import { describe, expect, it } from 'vitest';
import fc from 'fast-check';
import { aChange, anApprovalBy, aRequest, kim, lee, mia, noon } from '../../test/builders.ts';
import { addChanges, isPending, discardChange } from '../proposals/content.ts';
import type { ChangeRequest } from '../requests/change-request.ts';
import { abandonApplyAttempt, beginApplyAttempt, completeApplyAttempt } from './apply-attempt.ts';
import { discardDraft, executeCommand } from './commands.ts';
import { noRoles } from '../reviews/request-roles.ts';
import { checkTransition, type CommandName, commandNames } from './state-machine.ts';

const roles = {
  stranger: noRoles,
  author: { ...noRoles, author: true },
  'author and reviewer': { ...noRoles, author: true, reviewer: true },
  'author and applier': { ...noRoles, author: true, applier: true },
  reviewer: { ...noRoles, reviewer: true },
  applier: { ...noRoles, applier: true },
  admin: { ...noRoles, isAdministrator: true, mayReviewAsAdmin: true, reviewer: true, applier: true },
  'author and admin': {
    ...noRoles,
    author: true,
    isAdministrator: true,
    mayReviewAsAdmin: true,
    reviewer: true,
    applier: true,
  },
  'admin token': { ...noRoles, isAdministrator: true, applier: true },
  'author and admin token': { ...noRoles, author: true, isAdministrator: true, applier: true },
  system: { ...noRoles, system: true },
} as const;
type Role = keyof typeof roles;

const admins: readonly Role[] = ['admin', 'author and admin'];
const authors: readonly Role[] = [
  'author',
  'author and reviewer',
  'author and applier',
  'author and admin',
  'author and admin token',
];
const reviewers: readonly Role[] = ['reviewer', ...admins];
const tokens: readonly Role[] = ['admin token', 'author and admin token'];
const appliers: readonly Role[] = ['applier', 'author and applier', ...admins, ...tokens];
const cancellers: readonly Role[] = [...authors, 'admin', 'admin token'];

/** The transitions written out a second time: from which state a command leads to which, and for whom. */
const documented: Readonly<
  Partial<Record<`${ChangeRequestState}: ${CommandName}`, readonly [string, readonly Role[]]>>
> = {
  'Draft: discard': ['deleted', authors],
  'Draft: send to review': ['In review', authors],
  'Draft: cancel': ['Cancelled', cancellers],
  'In review: send to review': ['In review', authors],
  'In review: approve': ['Approved', reviewers],
  'In review: reject': ['Rejected', reviewers],
  'In review: cancel': ['Cancelled', cancellers],
  'Approved: approve': ['Approved', reviewers],
  'Approved: reject': ['Rejected', [...reviewers, 'applier']],
  'Approved: cancel': ['Cancelled', cancellers],
  'Approved: apply': ['Applied', appliers],
  'Approved: schedule': ['Scheduled', appliers],
  'Scheduled: reject': ['Rejected', [...authors, ...reviewers, 'applier']],
  'Scheduled: apply': ['Applied', appliers],
  'Scheduled: schedule': ['Scheduled', appliers],
  'Scheduled: run': ['Applied', ['system']],
  'Scheduled: fail': ['Scheduled', ['system']],
  'Scheduled: suspend': ['Scheduled', ['system']],
};

const triples = changeRequestStates.flatMap((state) =>
  commandNames.flatMap((command) => (Object.keys(roles) as Role[]).map((role) => [state, command, role] as const)),
);
const enough = { changes: 1, approvals: 1, minApprovals: 1 };

describe('the state machine of change requests', () => {
  it.each(triples)('from %s takes the command %s by %s only as documented', (state, command, role) => {
    const expected = documented[`${state}: ${command}`];
    const verdict = checkTransition(state, command, roles[role], enough);
    if (expected === undefined) return expect(verdict).toEqual({ is: 'no such transition' });
    const [to, who] = expected;
    if (!who.includes(role)) return expect(verdict.is).toBe('not permitted');
    expect(verdict).toMatchObject({ is: 'allowed', transition: { to: to === 'deleted' ? null : to } });
  });

  it('keeps a request in review until it has the approvals that it needs', () => {
    const verdict = checkTransition('In review', 'approve', roles.reviewer, { ...enough, minApprovals: 2 });
    expect(verdict).toMatchObject({ transition: { to: 'In review', emits: ['change-request-approval-added'] } });
  });

  it.each([
    ['Draft', 'send to review', 'author', { changes: 0 }, 'has changes'],
    ['In review', 'approve', 'reviewer', { changes: 0 }, 'has changes'],
    ['Approved', 'apply', 'applier', { approvals: 0 }, 'approvals suffice'],
    ['Approved', 'schedule', 'applier', { approvals: 0 }, 'approvals suffice'],
    ['Scheduled', 'run', 'system', { approvals: 0 }, 'approvals suffice'],
  ] as const)('%s: %s by %s waits for the required approvals', (state, command, role, facts, guard) => {
    expect(checkTransition(state, command, roles[role], { ...enough, ...facts })).toEqual({ is: 'not ready', guard });
  });
});

describe('an actor', () => {
  const inReview = aRequest({ state: 'In review', changes: [aChange({ action: 'archiveFeature' })] });
  const now = new Date(noon);

  it('receives the reason that authors do not review their own request', () => {
    expect(() =>
      executeCommand(inReview, { name: 'approve', basis: null }, { by: mia, now, roles: roles['author and reviewer'] }),
    ).toThrow('Authors can not review their own change request');
  });

  it('receives the name of the missing permission', () => {
    expect(() =>
      executeCommand(inReview, { name: 'approve', basis: null }, { by: lee, now, roles: roles.applier }),
    ).toThrow(
      'To perform this action, you need the "APPROVE_CHANGE_REQUEST" permission in the "production" environment.',
    );
  });

  it('cannot approve a revision that they have not seen', () => {
    const actor = { by: lee, now, roles: roles.reviewer };
    expect(() => executeCommand(inReview, { name: 'approve', basis: null }, actor, { revision: 2 })).toThrow(
      'Change request was changed by someone else',
    );
    expect(executeCommand(inReview, { name: 'approve', basis: null }, actor, { revision: 3 }).request?.state).toBe(
      'Approved',
    );
  });

  it('receives the environment of the missing permission, where the request affects others', () => {
    const missing = { approve: 'staging', apply: 'staging' };
    const actor = { by: lee, now, roles: { ...roles.reviewer, applier: true, missing } };
    expect(() => executeCommand(inReview, { name: 'approve', basis: null }, actor)).toThrow(
      'you need the "APPROVE_CHANGE_REQUEST" permission in the "staging" environment.',
    );
    const approved = { ...inReview, state: 'Approved', approvals: [anApprovalBy(kim)] } as const;
    expect(() =>
      beginApplyAttempt(approved, 'apply', actor, { authorisedEnvironments: [], segmentPermissions: [] }),
    ).toThrow('you need the "APPLY_CHANGE_REQUEST" permission in the "staging" environment.');
    expect(executeCommand(inReview, { name: 'reject' }, actor).request.state).toBe('Rejected');
  });

  it('needs the approvals of now, not those of the creation of a request', () => {
    const actor = { by: lee, now, roles: { ...roles.reviewer, applier: true } };
    const decision = executeCommand(inReview, { name: 'approve', basis: null }, actor, { minApprovals: 2 });
    expect(decision).toMatchObject({ request: { state: 'In review' }, events: [{ data: { minApprovals: 2 } }] });
    const approved = { ...decision.request, state: 'Approved' } as const;
    expect(() =>
      beginApplyAttempt(approved, 'apply', actor, {
        authorisedEnvironments: [],
        segmentPermissions: [],
        minApprovals: 2,
      }),
    ).toThrow('Change request no longer has the required approvals');
    // Fewer are needed again: the repeated approval counts what is there, once.
    expect(executeCommand(decision.request, { name: 'approve', basis: null }, actor).request).toMatchObject({
      state: 'Approved',
      approvals: [{ createdBy: lee }],
    });
  });

  it('who approves a request again changes nothing', () => {
    const before = { ...inReview, minApprovals: 2, approvals: [anApprovalBy(lee)] };
    expect(executeCommand(before, { name: 'approve', basis: null }, { by: lee, now, roles: roles.reviewer })).toEqual({
      request: before,
      events: [],
    });
  });
});

const people = [mia, lee, { id: 9, name: 'kim' }, { id: 10, name: 'rita' }] as const;
const steps = [...commandNames, 'add', 'take out', 'end', 'abandon'] as const;

/** What must hold of a request at any time (docs/behaviour.md, Change requests). */
function requireLegal(before: ChangeRequest, after: ChangeRequest): void {
  expect(after.schedule !== null).toBe(after.state === 'Scheduled');
  if (['Approved', 'Scheduled', 'Applied'].includes(after.state)) {
    expect(after.approvals.length).toBeGreaterThanOrEqual(after.minApprovals);
  }
  if (after.state !== 'Draft' && after.state !== 'Cancelled') expect(after.changes.length).toBeGreaterThan(0);
  if (after.state === 'Draft') expect(after.approvals).toEqual([]);
  if (before.state !== 'Draft') expect(after.state).not.toBe('Draft');
  if (['Applied', 'Rejected', 'Cancelled'].includes(before.state)) expect(after).toBe(before);
  if (after.changes !== before.changes && before.state !== 'Draft') expect(after.approvals).toEqual([]);
  expect(new Set(after.approvals.map(({ createdBy }) => createdBy.id)).size).toBe(after.approvals.length);
}

const aStep = fc.record({
  step: fc.constantFrom(...steps),
  who: fc.nat(people.length - 1),
  isAdministrator: fc.boolean(),
  mayReviewAsAdmin: fc.boolean(),
  reviewer: fc.boolean(),
  applier: fc.boolean(),
  system: fc.boolean(),
});
type Step = typeof aStep extends fc.Arbitrary<infer S> ? S : never;

function taken(request: ChangeRequest, { step, who, ...granted }: Step, nth: number): ChangeRequest | null {
  const by = people[who] ?? mia;
  const now = new Date(Date.parse(noon) + nth);
  const actor = { by, now, roles: { ...granted, missing: noRoles.missing, author: by.id === request.createdBy.id } };
  switch (step) {
    case 'add':
      if (!isPending(request)) return request;
      return addChanges(request, [checkedChange], [nth + 1000], actor).request;
    case 'take out':
      return discardChange(request, request.changes[0]?.id ?? 0, actor).request;
    case 'end':
      return request.applying === null ? request : completeApplyAttempt(request, now).request;
    case 'abandon':
      return request.applying === null
        ? request
        : abandonApplyAttempt(request, now, { name: 'fail', reason: 'conflicts' }).request;
    case 'apply':
    case 'run':
      return beginApplyAttempt(request, step, actor, { authorisedEnvironments: [], segmentPermissions: [] });
    case 'discard':
      discardDraft(request, actor);
      return null;
    case 'schedule':
      return executeCommand(request, { name: step, schedule: { scheduledAt: noon, snapshots: {} } }, actor).request;
    case 'fail':
    case 'suspend':
      return executeCommand(request, { name: step, reason: 'why' }, actor).request;
    case 'approve':
      return executeCommand(request, { name: step, basis: null }, actor).request;
    default:
      return executeCommand(request, { name: step }, actor).request;
  }
}
const checkedChange = {
  action: 'addStrategy',
  feature: 'checkout',
  segment: null,
  payload: {},
  snapshot: null,
} as const;

describe('any sequence of commands by any actors', () => {
  it('never leads to an invalid state (5,000 steps)', () => {
    let walked = 0;
    const reached = new Set<string>();
    const walks = fc.tuple(fc.integer({ min: 1, max: 2 }), fc.array(aStep, { minLength: 100, maxLength: 100 }));
    const check = fc.property(walks, ([minApprovals, walk]) => {
      const draft = (): ChangeRequest => aRequest({ minApprovals });
      let request = draft();
      for (const [nth, step] of walk.entries()) {
        walked++;
        let after: ChangeRequest | null = request;
        try {
          after = taken(request, step, nth);
        } catch (error) {
          if (!(error instanceof Refusal)) throw error;
        }
        if (after !== null) requireLegal(request, after);
        reached.add(after?.state ?? 'deleted');
        // A closed request stays closed; after a while the walk starts with a new one.
        const isOver = after === null || ['Applied', 'Rejected', 'Cancelled'].includes(after.state);
        request = isOver && nth % 3 === 0 ? draft() : (after ?? draft());
      }
    });
    fc.assert(check, { numRuns: 50, seed: 7 });
    expect(walked).toBe(5_000);
    expect(reached).toEqual(new Set([...changeRequestStates, 'deleted']));
  });
});
