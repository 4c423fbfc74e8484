import { type Caller, SetChangeRequestConfig } from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

const { ada, kim, lee, mia, rita, ron } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const protect = (environment: string, requiredApprovals: number) =>
  service.call(SetChangeRequestConfig, {
    params: { projectId: 'shop', environment },
    body: { changeRequestsEnabled: true, requiredApprovals },
  });
const archive = { action: 'archiveFeature', feature: 'checkout' };
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const inReview = async (change: object, environment?: string): Promise<number> => {
  const { id } = await service.add(change, lee, environment);
  await service.move(id, 'In review', lee);
  return id;
};
/** A request of lee in production that ron has approved. */
const approved = async (change: object = enable): Promise<number> => {
  const id = await inReview(change);
  await service.move(id, 'Approved', ron);
  return id;
};
const withRightsIn = (environment: string): Caller => ({
  ...kim,
  grants: (['APPROVE_CHANGE_REQUEST', 'APPLY_CHANGE_REQUEST'] as const).map((permission) => ({
    permission,
    project: 'shop',
    environment,
  })),
});
const lacksIn = (environment: string, permission: string) => ({
  kind: 'NoAccessError',
  message: expect.stringContaining(`the "${permission}" permission in the "${environment}" environment`),
});

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
