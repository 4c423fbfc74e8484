import { ListScheduled, SearchChangeRequests } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const renamed = { action: 'updateSegment', payload: { id: 4, name: 'beta testers' } };
const { mia, lee, kim, rita, ada } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

type Someone = (typeof callers)[keyof typeof callers];
const search = (query: Record<string, unknown> = {}, caller: Someone = mia) =>
  service.call(SearchChangeRequests, { query }, caller);
const idsOf = async (...about: Parameters<typeof search>) =>
  (await search(...about)).changeRequests.map(({ id }) => id);
const inReview = async (body: unknown = enable, author: Someone = lee, environment?: string) => {
  const { id } = await service.add(body, author, environment);
  await service.move(id, 'In review', author);
  return id;
};
const scheduled = async (body: unknown, author: Someone, environment?: string) => {
  const id = await inReview(body, author, environment);
  await service.move(id, 'Approved', mia);
  await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
  return id;
};

describe('a search for change requests', () => {
  it('finds the requests of all projects, newest first and without the drafts of other users', async () => {
    const first = await inReview([enable, renamed]);
    const draft = await service.add(enable, kim);
    expect(await search({}, mia)).toEqual({
      total: 1,
      changeRequests: [
        {
          id: first,
          createdAt: expect.any(String),
          createdBy: { id: lee.id, username: 'lee', imageUrl: expect.any(String) },
          environment: 'production',
          project: 'shop',
          features: ['checkout'],
          segments: ['beta users'],
          state: 'In review',
        },
      ],
    });
    expect(await idsOf({}, kim)).toEqual([draft.id, first]);
  });

  it('finds nothing in projects that the caller may not see', async () => {
    await inReview();
    service.features.hide('shop');
    expect(await search()).toEqual({ total: 0, changeRequests: [] });
  });

  it('filters by author and by open or closed, in pages', async () => {
    const open = await inReview();
    const rejected = await inReview(enable, kim);
    await service.move(rejected, 'Rejected', rita);
    const planned = await scheduled(enable, kim);
    expect(await idsOf({ state: 'IS:open' })).toEqual([planned, open]);
    expect(await idsOf({ state: 'IS:closed' })).toEqual([rejected]);
    expect(await idsOf({ createdBy: `IS:${kim.id}` })).toEqual([planned, rejected]);
    expect(await search({ limit: 1, offset: 1 })).toMatchObject({ total: 3, changeRequests: [{ id: rejected }] });
    expect((await search({ limit: 1 })).changeRequests).toMatchObject([
      { schedule: { status: 'pending', scheduledAt: '2099-01-01T00:00:00.000Z' } },
    ]);
  });

  it.each([
    [{ createdBy: '7' }, '/query/createdBy'],
    [{ createdBy: 'IS:mia' }, '/query/createdBy'],
    [{ requestedApproverId: 'IS:1,2' }, '/query/requestedApproverId'],
    [{ state: 'IS:Draft' }, '/query/state'],
  ])('refuses the malformed filter %j and names it', async (query, path) => {
    await expect(search(query)).rejects.toMatchObject({ kind: 'ValidationError', details: [{ path }] });
  });
});

it.each([
  [{ limit: '1001' }, '/query/limit'],
  [{ limit: '0' }, '/query/limit'],
  [{ offset: '-1' }, '/query/offset'],
])('a search for change requests refuses the page %j', (query, path) => {
  expect(() => parse(SearchChangeRequests.query, query, '/query', 'text')).toThrow(`\`${path}\``);
});

describe('scheduled change requests', () => {
  const touching = (query: Record<string, string[]>) =>
    service.call(ListScheduled, { params: { projectId: 'shop' }, query }, kim);

  it('are found by the features and segments that they change', async () => {
    const toggles = await scheduled(enable, lee);
    const updates = await scheduled(
      { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-production', title: 'ours' } },
      kim,
    );
    const variants = [{ name: 'only', weight: 1000, weightType: 'variable', stickiness: 'default' }];
    const variant = await scheduled({ action: 'patchVariant', feature: 'banner', payload: { variants } }, rita);
    await inReview(enable, lee);
    const ids = async (query: Record<string, string[]>) => (await touching(query)).map(({ id }) => id);
    expect(await touching({ feature: ['checkout'] })).toEqual([
      { id: toggles, environment: 'production' },
      { id: updates, environment: 'production' },
    ]);
    expect(await ids({ strategyId: ['in-production'] })).toEqual([updates]);
    expect(await ids({ variantForFlag: ['banner', 'checkout'] })).toEqual([variant]);
    expect(await ids({ strategyId: ['in-production'], variantForFlag: ['banner'] })).toEqual([updates, variant]);
    expect(await ids({ feature: ['engine'] })).toEqual([]);
    expect(await ids({})).toEqual([]);
  });

  it('have the title that a user gave them', async () => {
    const id = await inReview();
    await service.database.transaction(({ query }) =>
      query(`update change_request set title = 'Night release' where id = $1`, [id]),
    );
    await service.move(id, 'Approved', rita);
    await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
    expect(await touching({ feature: ['checkout'] })).toMatchObject([{ title: 'Night release' }]);
  });

  it('are not found in an unknown project', async () => {
    const request = service.call(ListScheduled, { params: { projectId: 'nowhere' }, query: {} });
    await expect(request).rejects.toMatchObject({ kind: 'NotFoundError' });
  });
});
