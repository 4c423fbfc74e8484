import { PreviewChangeRequest, PreviewProposal, RevertChangeRequest, SetChangeRequestConfig } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const archive = { action: 'archiveFeature', feature: 'banner' };
const { mia, lee, kim } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const at = (id: number) => ({ projectId: 'shop', id });
const revert = (id: number, caller = kim) => service.call(RevertChangeRequest, { params: at(id) }, caller);
const applied = async (changes: readonly object[] = [enable]) => {
  const { id } = await service.add(changes, mia);
  for (const state of ['In review', 'Approved', 'Applied'] as const) await service.move(id, state, mia);
  return id;
};

describe('reverting an applied request', () => {
  it('creates a draft of the caller from the inverse changes that were stored with the result', async () => {
    const id = await applied();
    const draft = await revert(id);
    expect(draft).toMatchObject({
      state: 'Draft',
      title: `Revert of change request #${id}`,
      createdBy: { id: kim.id },
      features: [{ name: 'checkout', changes: [{ action: 'updateEnabled' }] }],
    });
    expect(await service.get(draft.id, kim)).toEqual(draft);
    expect((await service.emittedEvents()).slice(-2)).toMatchObject([
      { type: 'change-request-created', data: { changeRequestId: draft.id } },
      { type: 'change-added', data: { changeRequestId: draft.id } },
    ]);
  });

  it('needs the approvals of all that it affects, in its reply and in its event', async () => {
    const dependency = { action: 'addDependency', feature: 'checkout', payload: { feature: 'banner' } };
    const { id } = await service.add(dependency, mia, 'development');
    for (const state of ['In review', 'Approved', 'Applied'] as const) await service.move(id, state, mia);
    await service.call(SetChangeRequestConfig, {
      params: { projectId: 'shop', environment: 'production' },
      body: { changeRequestsEnabled: true, requiredApprovals: 2 },
    });
    const draft = await revert(id);
    expect(draft).toMatchObject({ environment: 'development', minApprovals: 2, affectedEnvironments: ['production'] });
    expect((await service.emittedEvents()).findLast(({ type }) => type === 'change-request-created')).toMatchObject({
      data: { changeRequestId: draft.id, minApprovals: 2 },
    });
  });

  it('shows later edits as overwritten values', async () => {
    const id = await applied();
    service.features.edit('checkout', 'something newer');
    expect((await revert(id)).features[0]?.changes[0]?.overwrites).toHaveLength(1);
  });

  it('names the changes that it cannot revert', async () => {
    const { comments } = await revert(await applied([enable, archive]));
    expect(comments).toMatchObject([{ text: expect.stringContaining('banner stays archived until it is revived') }]);
  });

  it('is refused for a request that was not applied, for a caller with a draft, and for an unknown request', async () => {
    const { id } = await service.add(enable, lee);
    await expect(revert(id, lee)).rejects.toMatchObject({ kind: 'ConflictError' });
    await expect(revert(1e9)).rejects.toMatchObject({ kind: 'NotFoundError' });
    const done = await applied();
    await expect(revert(done, lee)).rejects.toThrow('You have a draft here already');
    expect(await service.stored()).toMatchObject({ change_request: 2 });
  });
});

describe('a preview', () => {
  it('works before review, for its author alone', async () => {
    const { id } = await service.add([enable], lee);
    service.features.archive('checkout');
    expect(await service.call(PreviewChangeRequest, { params: at(id) }, lee)).toMatchObject({
      applicable: false,
      features: [{ name: 'checkout', conflictCode: 'feature-archived' }],
    });
    await expect(service.call(PreviewChangeRequest, { params: at(id) }, mia)).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('works for changes that are not proposed, and stores nothing', async () => {
    const params = { projectId: 'shop', environment: 'production' };
    const preview = (body: unknown) => service.call(PreviewProposal, { params, body }, kim);
    expect(await preview([enable, archive])).toMatchObject({
      applicable: true,
      features: [{ changes: [{ id: 0, action: 'updateEnabled' }] }, { changes: [{ id: 1 }] }],
    });
    await expect(preview({ ...enable, payload: { enabled: 1 } })).rejects.toThrow('/body/payload/enabled');
    expect(await service.stored()).toMatchObject({ change_request: 0, outbox: 0 });
  });
});
