import {
  type Caller,
  type ChangeRequestState,
  changeRequestStates,
  GetApprovers,
  GetChangeRequestReview,
  GetPeopleOfChangeRequest,
  PreviewChangeRequest,
  ListAvailableReviewers,
  RevertChangeRequest,
  SearchChangeRequests,
  SetApprovers,
  SetChangeRequestConfig,
  systemCaller,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { eventually } from '@bunting/testing';
import { beforeEach, describe, expect, it } from 'vitest';
import { callers, startedChangeRequests } from '../../test/started-change-requests.ts';

const { ada, kim, lee, mia, rita, ron } = callers;

const service = startedChangeRequests();

function protect(environment: string, requiredApprovals: number) {
  return service.call(SetChangeRequestConfig, {
    params: { projectId: 'shop', environment },
    body: { changeRequestsEnabled: true, requiredApprovals },
  });
}
const archive = { action: 'archiveFeature', feature: 'checkout' };
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
async function inReview(change: object, environment?: string): Promise<number> {
  const { id } = await service.add(change, lee, environment);
  await service.move(id, 'In review', lee);
  return id;
}
/** A request of lee in production that ron has approved. */
async function approved(change: object = enable): Promise<number> {
  const id = await inReview(change);
  await service.move(id, 'Approved', ron);
  return id;
}
function withRightsIn(environment: string): Caller {
  return {
    ...kim,
    grants: (['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'] as const).map((permission) => ({
      permission,
      project: 'shop',
      environment,
    })),
  };
}
function lacksIn(environment: string, permission: string) {
  return {
    kind: 'NoAccessError',
    message: expect.stringContaining(`the "${permission}" permission in the "${environment}" environment`),
  };
}

describe('a change that affects every environment', () => {
  beforeEach(async () => {
    await protect('production', 2);
    await protect('staging', 1);
  });

  it('needs the most approvals of any protected environment, wherever it is proposed', async () => {
    const { id, ...proposed } = await service.add(archive, lee, 'development');
    expect(proposed).toMatchObject({ minApprovals: 2, affectedEnvironments: ['production', 'staging'] });
    expect(await service.add(enable, kim, 'development')).toMatchObject({ minApprovals: 1, affectedEnvironments: [] });
    const emitted = await service.emittedEvents();
    expect(emitted.find(({ type }) => type === 'change-request-created')).toMatchObject({
      data: { changeRequestId: id, minApprovals: 2 },
    });
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', ron);
    expect(await service.get(id)).toMatchObject({ state: 'In review', minApprovals: 2 });
    await service.move(id, 'Approved', mia);
    await service.move(id, 'Applied', ada);
    expect(await service.get(id)).toMatchObject({ state: 'Applied', minApprovals: 2 });
    expect(service.features.applied).toHaveLength(1);
  });

  it('is approved and applied only by who may do so in every protected environment', async () => {
    const id = await inReview(archive, 'development');
    const onlyThere = withRightsIn('development');
    await expect(service.move(id, 'Approved', onlyThere)).rejects.toMatchObject(
      lacksIn('production', 'APPROVE_CHANGE_REQUEST'),
    );
    await expect(service.move(id, 'Approved', rita)).rejects.toMatchObject(
      lacksIn('development', 'APPROVE_CHANGE_REQUEST'),
    );
    await service.move(id, 'Approved', ron);
    await service.move(id, 'Approved', mia);
    for (const state of ['Applied', 'Scheduled'] as const)
      await expect(
        service.move(id, state, onlyThere, { scheduledAt: '2099-01-01T00:00:00.000Z' }),
      ).rejects.toMatchObject(lacksIn('production', 'APPLY_CHANGE_REQUEST'));
  });

  it('needs no approvals of a protected environment that the project no longer has', async () => {
    service.features.link('shop', ['development', 'staging']);
    expect(await service.add(archive, lee, 'development')).toMatchObject({
      minApprovals: 1,
      affectedEnvironments: ['staging'],
    });
  });

  it('is listed with the environments that it affects while it is open', async () => {
    const everywhere = await inReview(archive, 'development');
    const { id: own } = await service.add(enable, lee, 'staging');
    const { id: unprotected } = await service.add(enable, lee, 'development');
    const listed = async () => {
      const { changeRequests } = await service.call(SearchChangeRequests, { query: {} }, lee);
      return new Map(changeRequests.map((found) => [found.id, found.affectedEnvironments]));
    };
    expect(await listed()).toEqual(
      new Map([
        [unprotected, []],
        [own, ['staging']],
        [everywhere, ['production', 'staging']],
      ]),
    );
    service.features.link('shop', ['development', 'staging']);
    expect((await listed()).get(everywhere)).toEqual(['staging']);
    await service.move(everywhere, 'Rejected', ron);
    expect((await listed()).get(everywhere)).toBeUndefined();
  });
});

describe('a raised number of approvals', () => {
  it('counts for a draft from before the protection and for what is added to it', async () => {
    const { id, ...draft } = await service.add(enable, lee);
    expect(draft.minApprovals).toBe(1);
    await protect('production', 2);
    expect((await service.get(id, lee)).minApprovals).toBe(2);
    expect(await service.add({ ...enable, feature: 'banner' }, lee)).toMatchObject({ id, minApprovals: 2 });
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', ron);
    expect((await service.get(id)).state).toBe('In review');
  });

  it('takes an approved and a scheduled request back to review, with the reason', async () => {
    await protect('production', 1);
    const id = await approved();
    const scheduled = await approved({ ...enable, feature: 'banner' });
    await service.move(scheduled, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
    await protect('production', 2);
    const text = 'The change request has 1 of the 2 approvals that it needs now';
    for (const one of [id, scheduled]) {
      expect(await service.get(one)).toMatchObject({ state: 'In review', minApprovals: 2, comments: [{ text }] });
      expect(await service.get(one)).not.toHaveProperty('schedule');
    }
    expect((await service.emittedEvents()).at(-1)).toMatchObject({
      type: 'change-request-sent-to-review',
      data: { changeRequestId: scheduled, reason: text },
      preData: { state: 'Scheduled' },
    });
    await service.move(id, 'Approved', mia);
    await service.move(id, 'Applied', ada);
  });

  it('leaves no approved request with fewer approvals, however it meets with approvals', async () => {
    for (let round = 0; round < 5; round++) {
      await service.reset();
      await protect('production', 1);
      const id = await inReview(enable);
      await Promise.all([service.move(id, 'Approved', ron), protect('production', 2)]);
      expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [{ createdBy: { id: ron.id } }] });
    }
  });

  it('does not let a request be applied for which it came between the start and the application', async () => {
    const { id } = await service.add(archive, lee, 'development');
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', ron);
    service.features.whileApplying('before', () => protect('production', 2));
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({
      kind: 'ConflictError',
      details: [{ code: 'approvals-missing' }],
    });
    expect(service.features.applied).toEqual([]);
    expect(await service.get(id)).toMatchObject({ state: 'In review', affectedEnvironments: ['production'] });
  });
});

describe('an approval of changes whose effect is another one now, since a default strategy or a segment was edited', () => {
  const removed = { text: expect.stringContaining(`after the approval (user id: ${ron.id}), which was removed`) };

  it.each(['Applied', 'Scheduled'] as const)('does not let a request be %s, which returns to review', async (state) => {
    const id = await approved();
    service.features.editBasis();
    const more = { scheduledAt: '2099-01-01T00:00:00.000Z' };
    await expect(service.move(id, state, ada, more)).rejects.toMatchObject({
      kind: 'ConflictError',
      message: 'Change request no longer has the required approvals',
    });
    expect(service.features.applied).toEqual([]);
    expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [], comments: [removed] });
    await service.move(id, 'Approved', ron);
    await service.move(id, 'Applied', ada);
  });

  it('does not let a request be applied if the edit comes while it begins', async () => {
    const id = await approved();
    service.features.whileApplying('before', () => service.features.editBasis());
    await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject({ details: [{ code: 'approvals-missing' }] });
    expect(service.features.applied).toEqual([]);
    expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [], comments: [removed] });
  });

  it('is refused to a reviewer who has seen the effect before', async () => {
    const id = await inReview(enable);
    const { basis } = await service.call(PreviewChangeRequest, { params: at(id) }, ron);
    service.features.editBasis();
    await expect(service.move(id, 'Approved', ron, { basis: basis ?? '' })).rejects.toMatchObject({
      kind: 'ConflictError',
      message: expect.stringContaining('would do something else now'),
    });
    const seen = await service.call(PreviewChangeRequest, { params: at(id) }, ron);
    await service.move(id, 'Approved', ron, { basis: seen.basis ?? '' });
    expect(await service.get(id)).toMatchObject({ state: 'Approved' });
  });

  it('does not count beside a newer one', async () => {
    await protect('production', 2);
    const id = await inReview(enable);
    await service.move(id, 'Approved', ron);
    service.features.editBasis();
    expect(await service.call(GetChangeRequestReview, { params: at(id) }, mia)).toMatchObject({ missingApprovals: 2 });
    await service.move(id, 'Approved', mia);
    expect(await service.get(id)).toMatchObject({
      state: 'In review',
      approvals: [{ createdBy: { id: mia.id } }],
      comments: [removed],
    });
  });
});

describe('the approval of a user who may not approve any more', () => {
  const removed = { text: expect.stringContaining(`(user id: ${ron.id})`) };

  it('does not count at the next approval', async () => {
    await protect('production', 2);
    const id = await approved();
    service.gateway.grant(ron.id, []);
    await service.move(id, 'Approved', mia);
    expect(await service.get(id)).toMatchObject({
      state: 'In review',
      approvals: [{ createdBy: { id: mia.id } }],
      comments: [removed],
    });
  });

  it.each(['Applied', 'Scheduled'] as const)('does not let a request be %s, which returns to review', async (state) => {
    const id = await approved();
    service.gateway.grant(ron.id, []);
    const more = { scheduledAt: '2099-01-01T00:00:00.000Z' };
    await expect(service.move(id, state, ada, more)).rejects.toMatchObject({
      kind: 'ConflictError',
      message: 'Change request no longer has the required approvals',
    });
    expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [], comments: [removed] });
  });

  it('is taken back as soon as an event about users arrives, also of a scheduled request', async () => {
    const id = await approved();
    await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
    service.gateway.grant(ron.id, [{ permission: 'APPROVE_CHANGE_REQUEST', environment: 'development' }]);
    service.gateway.emit(4711);
    await eventually(async () => expect(await service.get(id)).toMatchObject({ state: 'In review', approvals: [] }));
  });
});

function at(id: number) {
  return { projectId: 'shop', id };
}
function send(id: number, reviewers: readonly number[], caller: typeof lee | typeof mia = lee) {
  return service.call(SetApprovers, { params: at(id), body: { reviewers: [...reviewers] } }, caller);
}
async function approversOf(id: number) {
  return (await service.call(GetApprovers, { params: at(id) })).reviewers;
}

describe('reviewers to choose from', () => {
  const available = (environment: string, caller: (typeof callers)[keyof typeof callers]) =>
    service.call(ListAvailableReviewers, { params: { projectId: 'shop', environment } }, caller);
  const idsOf = async (...about: Parameters<typeof available>) =>
    (await available(...about)).reviewers.map(({ id }) => id).toSorted((one, other) => one - other);

  it('are the users who may approve in the environment, without the caller', async () => {
    expect(await idsOf('production', lee)).toEqual([mia.id, rita.id, ron.id]);
    expect(await idsOf('development', lee)).toEqual([mia.id, ron.id]);
    expect(await idsOf('production', rita)).toEqual([mia.id, ron.id]);
    expect((await available('development', lee)).reviewers[0]).toEqual({
      id: mia.id,
      username: mia.name,
      email: mia.name,
      imageUrl: expect.any(String),
    });
  });

  it('include the caller if that is an administrator, who may approve their own request', async () => {
    expect(await idsOf('production', mia)).toContain(mia.id);
  });

  it('are not found in an environment that the project does not have', async () => {
    await expect(available('nowhere', lee)).rejects.toMatchObject({ kind: 'NotFoundError' });
  });
});

describe('requested approvers', () => {
  it('are replaced as a whole by the author, and carry their decisions', async () => {
    const { id } = await service.add(enable, lee);
    expect(await approversOf(id).catch((error: Error) => error)).toMatchObject({ kind: 'NotFoundError' });
    await send(id, [ron.id, rita.id]);
    await send(id, [rita.id, kim.id]);
    await service.move(id, 'In review', lee);
    expect(await approversOf(id)).toMatchObject([
      { id: rita.id, username: 'rita', status: 'pending' },
      { id: kim.id, status: 'pending' },
    ]);
    await service.move(id, 'Approved', rita);
    expect((await approversOf(id)).map(({ status }) => status)).toEqual(['approved', 'pending']);
  });

  it('are told with the request: whom its author asked, whom no longer, and when', async () => {
    const { id } = await service.add(enable, lee);
    expect(await service.get(id, lee)).not.toHaveProperty('reviewRequests');
    await send(id, [ron.id, rita.id]);
    await send(id, [rita.id, ron.id]);
    await send(id, [rita.id, kim.id]);
    await service.move(id, 'In review', lee);
    const { reviewRequests = [] } = await service.get(id, ron);
    const createdBy = expect.objectContaining({ id: lee.id });
    expect(reviewRequests).toEqual([
      { createdBy, createdAt: expect.any(String), requested: [ron.id, rita.id], withdrawn: [] },
      { createdBy, createdAt: expect.any(String), requested: [kim.id], withdrawn: [ron.id] },
    ]);
    const [first, second] = reviewRequests.map(({ createdAt }) => Date.parse(createdAt)) as [number, number];
    expect(second).toBeGreaterThanOrEqual(first);
  });

  it('are set by the author only, and only in a draft or in review', async () => {
    const { id } = await service.add(enable, lee);
    await expect(send(id, [rita.id], mia)).rejects.toMatchObject({ kind: 'NotFoundError' });
    await service.move(id, 'In review', lee);
    await send(id, [rita.id]);
    await expect(send(id, [], mia)).rejects.toMatchObject({ kind: 'NoAccessError' });
    await service.move(id, 'Approved', ron);
    await expect(send(id, [])).rejects.toMatchObject({ kind: 'ConflictError' });
    expect(await approversOf(id)).toMatchObject([{ id: rita.id, status: 'pending' }]);
  });

  it('are advisory: any permitted user may approve, and a requested approval grants no permission', async () => {
    const { id } = await service.add(enable, lee);
    await send(id, [kim.id]);
    await service.move(id, 'In review', lee);
    await expect(service.move(id, 'Approved', kim)).rejects.toMatchObject({ kind: 'NoAccessError' });
    await service.move(id, 'Approved', ron);
    expect(await service.get(id)).toMatchObject({ state: 'Approved' });
  });

  it('cannot be users who do not exist', async () => {
    const { id } = await service.add(enable, lee);
    const details = [{ path: '/body/reviewers/1' }];
    await expect(send(id, [rita.id, 4711])).rejects.toMatchObject({ kind: 'ValidationError', details });
  });

  it.each([
    ['more than ten', Array.from({ length: 11 }, (_, nth) => nth + 1), '/body/reviewers'],
    ['one twice', [10, 10], '/body/reviewers'],
    ['something that is no id', [0], '/body/reviewers/0'],
  ])('are refused if they are %s', (_, reviewers, path) => {
    expect(() => parse(SetApprovers.body, { reviewers }, '/body')).toThrow(`\`${path}\``);
  });

  it('who were deleted are shown by their id only', async () => {
    const { id } = await service.add(enable, lee);
    await send(id, [rita.id]);
    await service.move(id, 'In review', lee);
    service.gateway.remove(rita.id);
    expect(await approversOf(id)).toEqual([{ id: rita.id, status: 'pending' }]);
  });

  it('find the requests that wait for their approval across projects', async () => {
    const { id } = await service.add(enable, lee);
    await service.add(enable, kim);
    await send(id, [rita.id]);
    await service.move(id, 'In review', lee);
    const query = { requestedApproverId: `IS:${rita.id}`, state: 'IS:open' };
    const found = await service.call(SearchChangeRequests, { query }, rita);
    expect(found).toMatchObject({ total: 1, changeRequests: [{ id }] });
  });
});

function reviewOf(id: number, caller: Caller) {
  return service.call(GetChangeRequestReview, { params: { projectId: 'shop', id } }, caller);
}

describe('the review of a change request', () => {
  const scheduledAt = '2099-01-01T00:00:00.000Z';
  const steps: readonly (readonly [ChangeRequestState, Caller])[] = [
    ['In review', lee],
    ['Approved', ron],
    ['Scheduled', ada],
    ['Applied', ada],
  ];
  /** A request of lee in a state, by the shortest way there. */
  async function inState(state: ChangeRequestState): Promise<number> {
    const { id } = await service.add(enable, lee);
    for (const [next, by] of state === 'Draft' ? [] : steps.slice(0, steps.findIndex(([name]) => name === state) + 1)) {
      if (next !== 'Scheduled' || state === 'Scheduled') await service.move(id, next, by, { scheduledAt });
    }
    return id;
  }

  it.each(['Draft', 'In review', 'Approved', 'Scheduled', 'Applied'] as const)(
    'offers in the state %s exactly what is not refused',
    async (state) => {
      for (const caller of state === 'Draft' ? [lee] : [lee, mia, rita, ada, kim]) {
        const { states } = await reviewOf(await inState(state), caller);
        for (const target of changeRequestStates) {
          const id = await inState(state);
          const outcome = await service.move(id, target, caller, { scheduledAt }).catch((error: Error) => error);
          const isRefused = outcome instanceof Error;
          // Sending what is in review to review again is no step.
          const isStep = !(state === 'In review' && target === 'In review');
          expect([caller.name, target, states.includes(target)]).toEqual([caller.name, target, isStep && !isRefused]);
          await service.reset();
        }
      }
    },
    60_000,
  );

  it('names who is asked, who has decided and who else may approve, and counts what is missing', async () => {
    await protect('production', 2);
    const { id } = await service.add(enable, lee);
    await send(id, [kim.id]);
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', ron);
    const review = await reviewOf(id, kim);
    expect(review).toMatchObject({ author: { id: lee.id, username: 'lee' }, missingApprovals: 1, states: [] });
    expect(
      review.reviewers.map(({ username, status, isRequested, mayApprove }) => [
        username,
        status,
        isRequested,
        mayApprove,
      ]),
    ).toEqual([
      ['kim', 'pending', true, false],
      ['ron', 'approved', false, true],
      [mia.name, 'pending', false, true],
      ['rita', 'pending', false, true],
    ]);
    expect(await reviewOf(id, lee)).toMatchObject({ mayEdit: true, mayRename: true, mayRequestReviewers: true });
    expect(await reviewOf(id, mia)).toMatchObject({ mayEdit: false, mayRename: true, mayRequestReviewers: false });
  });

  it('says whom it concerns: the requested reviewers, or else who may approve while it is in review', async () => {
    const concerns = (id: number, withReviewers = true) =>
      service.call(GetPeopleOfChangeRequest, { body: { id, withReviewers } }, systemCaller);
    const { id } = await service.add(enable, lee);
    expect(await concerns(id)).toMatchObject({ author: lee.id, state: 'Draft', reviewers: [], participants: [] });
    await service.move(id, 'In review', lee);
    // Those with a role in the project come before those who may approve everywhere.
    expect(await concerns(id)).toMatchObject({ reviewers: [rita.id] });
    expect(await concerns(id, false)).toMatchObject({ author: lee.id, reviewers: [] });
    await send(id, [kim.id]);
    await service.move(id, 'Approved', ron);
    expect(await concerns(id)).toMatchObject({ reviewers: [kim.id], participants: [ron.id] });
    await expect(concerns(4711)).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('concerns who has a role in its project, however many may approve everywhere', async () => {
    const id = await inReview(enable);
    const grants = [{ permission: 'APPROVE_CHANGE_REQUEST' as const }];
    service.gateway.addFirst(Array.from({ length: 1_100 }, (_, nth) => ({ id: 1_000 + nth, name: `a${nth}`, grants })));
    const body = { id, withReviewers: true };
    expect(await service.call(GetPeopleOfChangeRequest, { body }, systemCaller)).toMatchObject({
      reviewers: [rita.id],
    });
  });

  it('leaves out who may not approve in every environment that it affects', async () => {
    await protect('production', 1);
    await protect('staging', 1);
    const id = await inReview(archive);
    const { reviewers } = await reviewOf(id, lee);
    expect(reviewers.map(({ username }) => username)).toEqual([mia.name, 'ron']);
    expect((await reviewOf(id, rita)).states).toEqual(['Rejected']);
  });

  it('keeps who has decided after it is closed, and offers to revert it only where that is possible', async () => {
    const id = await inState('Applied');
    const applied = await reviewOf(id, kim);
    expect(applied).toMatchObject({ missingApprovals: 0, mayEdit: false, mayRename: false });
    expect(applied.reviewers).toMatchObject([{ id: ron.id, status: 'approved', mayApprove: false }]);
    const revert = () =>
      service.call(RevertChangeRequest, { params: { projectId: 'shop', id } }, kim).then(
        () => true,
        () => false,
      );
    expect(applied.mayRevert).toBe(true);
    expect(await revert()).toBe(true);
    expect((await reviewOf(id, kim)).mayRevert).toBe(false);
    expect(await revert()).toBe(false);
  });

  it('of a draft of another user is not found', async () => {
    const { id } = await service.add(enable, lee);
    await expect(reviewOf(id, mia)).rejects.toMatchObject({ kind: 'NotFoundError' });
  });
});

describe('what a caller may review', () => {
  const reviewable = async (caller: Caller) => {
    const query = { reviewable: true };
    const { changeRequests, total } = await service.call(SearchChangeRequests, { query }, caller);
    expect(total).toBe(changeRequests.length);
    return changeRequests.map(({ id }) => id);
  };

  it('is in review, of somebody else, and where the caller may approve', async () => {
    const { id } = await service.add(enable, lee);
    expect(await reviewable(ron)).toEqual([]);
    await service.move(id, 'In review', lee);
    for (const caller of [ron, rita, mia]) expect(await reviewable(caller)).toEqual([id]);
    for (const caller of [lee, kim, ada]) expect(await reviewable(caller)).toEqual([]);
    const own = await service.add(enable, mia);
    await service.move(own.id, 'In review', mia);
    expect(await reviewable(mia)).toEqual([id]);
    expect(await reviewable(ron)).toEqual([own.id, id]);
  });

  it('leaves out what the caller has approved, and what affects an environment where the permission is missing', async () => {
    await protect('production', 2);
    await protect('staging', 1);
    const id = await inReview(enable);
    const everywhere = await service.add({ ...archive, feature: 'banner' }, kim);
    await service.move(everywhere.id, 'In review', kim);
    expect(await reviewable(rita)).toEqual([id]);
    expect(await reviewable(ron)).toEqual([everywhere.id, id]);
    await service.move(id, 'Approved', ron);
    expect(await reviewable(ron)).toEqual([everywhere.id]);
    // An environment that the project no longer has asks for nothing.
    service.features.link('shop', ['production', 'development']);
    expect(await reviewable(rita)).toEqual([everywhere.id, id]);
  });
});
