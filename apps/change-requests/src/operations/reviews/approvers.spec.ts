import { GetApprovers, ListAvailableReviewers, SearchChangeRequests, SetApprovers } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const { mia, lee, kim, rita, ron } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const at = (id: number) => ({ projectId: 'shop', id });
const send = (id: number, reviewers: readonly number[], caller: typeof lee | typeof mia = lee) =>
  service.call(SetApprovers, { params: at(id), body: { reviewers: [...reviewers] } }, caller);
const approversOf = async (id: number) => (await service.call(GetApprovers, { params: at(id) })).reviewers;

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
    expect((await service.emittedEvents()).map(({ type }) => type)).not.toContain(
      'change-request-requested-approvers-updated',
    );
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
