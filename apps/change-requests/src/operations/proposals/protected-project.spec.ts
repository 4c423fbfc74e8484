import { AddChanges, type Caller, EditChange, PreviewProposal, RevertChangeRequest } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const { lee, rita, ada } = callers;
/** The same user as a caller who is not a member of the protected project. */
const outside: Caller = { ...lee, proposalDeniedProjects: ['shop'] };
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const place = { projectId: 'shop', environment: 'production' };
const forbidden = { kind: 'NoAccessError', message: expect.stringContaining('protected') };

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

it('refuses proposals and previews by callers who are not members of a protected project', async () => {
  await expect(service.call(AddChanges, { params: place, body: enable }, outside)).rejects.toMatchObject(forbidden);
  const proposal = { params: place, body: [enable] };
  await expect(service.call(PreviewProposal, proposal, outside)).rejects.toMatchObject(forbidden);
  expect(await service.stored()).toMatchObject({ change_request: 0 });
});

it('refuses further steps by a former member of a protected project, who still sees their request', async () => {
  const { id, features } = await service.add(enable, lee);
  const edit = { params: { projectId: 'shop', id, changeId: features[0]?.changes[0]?.id ?? 0 }, body: enable };
  await expect(service.call(EditChange, edit, outside)).rejects.toMatchObject(forbidden);
  await expect(service.move(id, 'In review', outside)).rejects.toMatchObject(forbidden);
  expect(await service.get(id, outside)).toMatchObject({ state: 'Draft', revision: 1 });
});

it('refuses to revert a request of a protected project for callers who are not members', async () => {
  const { id } = await service.add(enable, lee);
  await service.move(id, 'In review', lee);
  await service.move(id, 'Approved', rita);
  await service.move(id, 'Applied', ada);
  const revert = { params: { projectId: 'shop', id } };
  await expect(service.call(RevertChangeRequest, revert, outside)).rejects.toMatchObject(forbidden);
});

it('accepts proposals of the same caller in projects that are not protected', async () => {
  expect(await service.add(enable, { ...lee, proposalDeniedProjects: ['another'] })).toMatchObject({ state: 'Draft' });
});
