import { AddChanges, type Caller, EditChange, PreviewProposal, RevertChangeRequest } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const { lee, rita, ada } = callers;
/** The same user as the gateway tells of them who have no part in the protected project. */
const outside: Caller = { ...lee, closedProjects: ['shop'] };
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const place = { projectId: 'shop', environment: 'production' };
const forbidden = { kind: 'NoAccessError', message: expect.stringContaining('protected') };

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.forget());
afterAll(() => service.stop());

it('in a protected project nobody from outside proposes changes, nor asks what they would do', async () => {
  await expect(service.call(AddChanges, { params: place, body: enable }, outside)).rejects.toMatchObject(forbidden);
  const proposal = { params: place, body: [enable] };
  await expect(service.call(PreviewProposal, proposal, outside)).rejects.toMatchObject(forbidden);
  expect(await service.stored()).toMatchObject({ change_request: 0 });
});

it('whoever left it takes nothing further that they began, and still sees it', async () => {
  const { id, features } = await service.add(enable, lee);
  const edit = { params: { projectId: 'shop', id, changeId: features[0]?.changes[0]?.id ?? 0 }, body: enable };
  await expect(service.call(EditChange, edit, outside)).rejects.toMatchObject(forbidden);
  await expect(service.move(id, 'In review', outside)).rejects.toMatchObject(forbidden);
  expect(await service.get(id, outside)).toMatchObject({ state: 'Draft', revision: 1 });
});

it('what was applied there is not undone from outside', async () => {
  const { id } = await service.add(enable, lee);
  await service.move(id, 'In review', lee);
  await service.move(id, 'Approved', rita);
  await service.move(id, 'Applied', ada);
  const revert = { params: { projectId: 'shop', id } };
  await expect(service.call(RevertChangeRequest, revert, outside)).rejects.toMatchObject(forbidden);
});

it('other projects are as open as they were', async () => {
  expect(await service.add(enable, { ...lee, closedProjects: ['another'] })).toMatchObject({ state: 'Draft' });
});
