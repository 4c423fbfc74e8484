import {
  AddComment,
  type AnyOperation,
  type Caller,
  DiscardChange,
  DiscardDraft,
  GetApprovers,
  GetChangeRequest,
  CountOpenChangeRequests,
  GetEditStatus,
  httpOperations,
  FindNeededSegmentLists,
  ListProposedSegmentStrategies,
  ListScheduled,
  operationName,
  PreviewChangeRequest,
  RevertChangeRequest,
  SearchChangeRequests,
  serviceOf,
  SetApprovers,
  SetChangeRequestConfig,
  SetTitle,
  systemCaller,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { callers, startChangeRequests, startedChangeRequests } from '../../test/started-change-requests.ts';
import { parseChangeRequestFilter } from './change-request-filter.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const renamed = { action: 'updateSegment', payload: { id: 4, name: 'beta testers' } };
const { mia, lee, kim, rita, ada } = callers;

const service = startedChangeRequests();

type Someone = (typeof callers)[keyof typeof callers];
function search(query: Record<string, unknown> = {}, caller: Someone = mia) {
  return service.call(SearchChangeRequests, { query }, caller);
}
async function idsOf(...about: Parameters<typeof search>) {
  return (await search(...about)).changeRequests.map(({ id }) => id);
}
async function inReview(body: unknown = enable, author: Someone = lee, environment?: string) {
  const { id } = await service.add(body, author, environment);
  await service.move(id, 'In review', author);
  return id;
}
async function scheduled(body: unknown, author: Someone, environment?: string) {
  const id = await inReview(body, author, environment);
  await service.move(id, 'Approved', mia);
  await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
  return id;
}

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
          affectedEnvironments: [],
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
    expect(await idsOf({ state: 'IS:scheduled' })).toEqual([planned]);
    expect(await idsOf({ state: 'IS:closed' })).toEqual([rejected]);
    expect(await idsOf({ createdBy: `IS:${kim.id}` })).toEqual([planned, rejected]);
    expect(await search({ limit: 1, offset: 1 })).toMatchObject({ total: 3, changeRequests: [{ id: rejected }] });
    expect((await search({ limit: 1 })).changeRequests).toMatchObject([
      { schedule: { status: 'pending', scheduledAt: '2099-01-01T00:00:00.000Z' } },
    ]);
  });

  it('finds those of one project, also among those that the caller may review', async () => {
    const id = await inReview();
    expect(await idsOf({ project: 'IS:shop' })).toEqual([id]);
    expect(await idsOf({ project: 'IS:shop', reviewable: true }, rita)).toEqual([id]);
    expect(await idsOf({ project: 'IS:bank' })).toEqual([]);
    expect(await idsOf({ project: 'IS:bank', reviewable: true }, rita)).toEqual([]);
  });

  it.each([
    [{ project: 'shop' }, '/query/project'],
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

describe('the edit status of features', () => {
  const statusOf = (caller: Someone, features = ['checkout', 'banner']) =>
    service.call(GetEditStatus, { body: { projects: ['shop', 'bank'], features } }, caller);

  it('says in which environments changes wait, until their request is closed', async () => {
    const first = await inReview();
    await inReview(enable, kim);
    await scheduled({ ...enable, feature: 'banner' }, rita);
    expect((await statusOf(mia)).waitingChanges).toEqual([
      { feature: 'banner', environment: 'production' },
      { feature: 'checkout', environment: 'production' },
    ]);
    expect((await statusOf(mia, ['checkout'])).waitingChanges).toHaveLength(1);
    await service.move(first, 'Rejected', rita);
    expect((await statusOf(mia, ['checkout'])).waitingChanges).toHaveLength(1);
    expect((await statusOf(mia, ['unknown', '__proto__'])).waitingChanges).toEqual([]);
  });

  it('goes with the number of open requests of each project, but for drafts of others and hidden projects', async () => {
    const openFor = async (caller: Someone, hiddenProjects: string[] = []) =>
      (await service.call(CountOpenChangeRequests, {}, { ...caller, hiddenProjects })).projects;
    const first = await inReview();
    await inReview(enable, kim);
    await service.add(enable, rita);
    expect(await openFor(mia)).toEqual([{ id: 'shop', open: 2 }]);
    expect(await openFor(rita)).toEqual([{ id: 'shop', open: 3 }]);
    await service.move(first, 'Rejected', rita);
    expect(await openFor(mia)).toEqual([{ id: 'shop', open: 1 }]);
    expect(await openFor(mia, ['shop'])).toEqual([]);
  });

  it('has drafts for their authors alone', async () => {
    await service.add(enable, kim);
    expect((await statusOf(kim)).waitingChanges).toEqual([{ feature: 'checkout', environment: 'production' }]);
    expect((await statusOf(mia)).waitingChanges).toEqual([]);
  });

  it('says which environments are protected, but not of projects that the caller may not see', async () => {
    await inReview();
    await service.call(SetChangeRequestConfig, {
      params: { projectId: 'shop', environment: 'production' },
      body: { changeRequestsEnabled: true },
    });
    const outsider = { ...mia, hiddenProjects: ['shop'] };
    expect((await statusOf(mia)).protectedEnvironments).toContainEqual({ project: 'shop', environment: 'production' });
    expect(await statusOf(outsider as Someone)).toEqual({ protectedEnvironments: [], waitingChanges: [] });
  });
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

const ofProjects = httpOperations.filter(
  (operation) =>
    serviceOf(operation) === 'change-requests' && operation.http?.url.includes('/projects/:projectId/') === true,
);

it.each(ofProjects.map((operation) => [operationName(operation), operation] as const))(
  '%s finds nothing in an unknown project, whatever it is asked for',
  async (_name, operation) => {
    const { id } = await service.add(enable, lee);
    const [feature] = (await service.get(id, lee)).features;
    const params = {
      projectId: 'nowhere',
      environment: 'production',
      featureName: 'checkout',
      id,
      changeId: feature?.changes[0]?.id,
    };
    const body = {
      ...enable,
      text: 'x',
      title: 'x',
      state: 'In review',
      reviewers: [],
      changeRequestsEnabled: true,
      requiredApprovals: 1,
    };
    const request = service.call(operation as AnyOperation, { params, query: {}, body } as never, mia);
    await expect(request).rejects.toMatchObject({ kind: 'NotFoundError' });
  },
);

function setState(id: number, state: string): Promise<unknown> {
  return service.database.transaction(({ query }) =>
    query('update change_request set state = $2 where id = $1', [id, state]),
  );
}

describe('the pending change requests of a project', () => {
  it('are an empty list before the first proposal', async () => {
    expect(await service.pending()).toEqual([]);
  });

  it('are complete, as in the response to the proposal', async () => {
    const request = await service.add([enable, { action: 'updateSegment', payload: { id: 4, name: 'beta' } }]);
    expect(await service.pending()).toEqual([request]);
  });

  it('are those of the caller only, also for an admin', async () => {
    await service.add(enable, callers.lee);
    expect(await service.pending(callers.mia)).toEqual([]);
    expect(await service.pending(callers.lee)).toHaveLength(1);
  });

  it('leave out the pending requests of other projects', async () => {
    await service.add(enable);
    expect(await service.pending(callers.mia, 'garage')).toEqual([]);
  });

  it.each([
    ['Draft', 1],
    ['In review', 1],
    ['Approved', 1],
    ['Scheduled', 0],
    ['Applied', 0],
    ['Rejected', 0],
    ['Cancelled', 0],
  ])('include one in state %s: %d', async (state, count) => {
    const { id } = await service.add(enable);
    await setState(id, state);
    expect(await service.pending()).toHaveLength(count);
  });

  it('are sorted by the name of their environment', async () => {
    for (const environment of ['staging', 'development', 'production']) {
      await service.add(enable, callers.mia, environment);
    }
    expect((await service.pending()).map(({ environment }) => environment)).toEqual([
      'development',
      'production',
      'staging',
    ]);
  });

  it('are left out while their environment is not linked to the project', async () => {
    await service.add(enable, callers.mia, 'staging');
    service.features.link('shop', ['production']);
    expect(await service.pending()).toEqual([]);
    service.features.link('shop', ['production', 'staging']);
    expect(await service.pending()).toHaveLength(1);
  });

  it('are not found in a project that does not exist', async () => {
    await expect(service.pending(callers.mia, 'nowhere')).rejects.toMatchObject({ kind: 'NotFoundError' });
  });

  it('contain approvals, rejections and comments with their users, oldest first', async () => {
    const { id } = await service.add(enable);
    await service.database.transaction(async ({ query }) => {
      for (const table of ['approval', 'rejection']) {
        await query(
          `insert into ${table} values ($1, 9, 'kim', '2026-11-21 10:00:00.5+02'), ($1, 8, 'lee', '2026-11-21 10:00:00+02')`,
          [id],
        );
      }
      await query(
        `insert into comment (change_request_id, text, created_by_id, created_by_name, created_at)
         values ($1, 'first', 8, 'lee', '2026-11-21 08:00:00+00'), ($1, 'second', 9, null, '2026-11-21 08:00:00+00')`,
        [id],
      );
    });
    const [pending] = await service.pending();
    const verdicts = [
      { createdBy: { id: 8, username: 'lee' }, createdAt: '2026-11-21T08:00:00.000Z' },
      { createdBy: { id: 9, username: 'kim' }, createdAt: '2026-11-21T08:00:00.500Z' },
    ];
    expect(pending).toMatchObject({
      approvals: verdicts,
      rejections: verdicts,
      comments: [
        { text: 'first', createdBy: { username: 'lee' } },
        { text: 'second', createdBy: { username: null, imageUrl: null } },
      ],
    });
  });

  it('cannot be listed while the features service is unavailable to list the environments', async () => {
    const lonely = await startChangeRequests({ url: service.url });
    await lonely.features.stop();
    await expect(lonely.pending()).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    await lonely.stop();
  });
});

const beta = 4;
function using(feature: string, segments: readonly number[]) {
  return {
    action: 'addStrategy',
    feature,
    payload: { name: 'default', constraints: [], parameters: {}, segments },
  };
}

async function usesOf(segment: number, caller: Caller = kim) {
  return (await service.call(ListProposedSegmentStrategies, { body: { segment } }, caller)).changeRequestStrategies;
}

it('lists the strategies to which open requests add the segment, existing strategies by their id', async () => {
  const update = {
    action: 'updateStrategy',
    feature: 'checkout',
    payload: { id: 'in-production', segments: [7, beta] },
  };
  const { id } = await service.add([update, using('banner', [beta]), using('banner', [44])], lee);
  await service.call(SetTitle, { params: { projectId: 'shop', id }, body: { title: 'Testers first' } }, lee);
  await service.move(id, 'In review', lee);
  const place = { projectId: 'shop', environment: 'production', changeRequest: { id, title: 'Testers first' } };
  expect(await usesOf(beta)).toEqual([
    { id: 'in-production', featureName: 'checkout', strategyName: 'default', ...place },
    { featureName: 'banner', strategyName: 'default', ...place },
  ]);
  await service.move(id, 'Cancelled', lee);
  expect(await usesOf(beta)).toEqual([]);
});

it('finds the staged lists that open requests, also drafts, give to their segments', async () => {
  const named = (digit: string) => ({ segment: beta, root: digit.repeat(64) });
  const [one, other] = [named('a'), named('b')];
  const giving = ({ root }: { readonly root: string }) => ({
    action: 'updateSegmentList',
    payload: { id: beta, contextName: 'userId', root },
  });
  const { id } = await service.add(giving(one), lee);
  await service.move(id, 'In review', lee);
  await service.add(giving(other), kim);
  const needed = async () => {
    const lists = [one, other, named('c'), { segment: 7, root: 'a'.repeat(64) }];
    const found = await service.call(FindNeededSegmentLists, { body: { lists } }, systemCaller);
    return found.lists.toSorted((first, second) => (first.root < second.root ? -1 : 1));
  };
  expect(await needed()).toEqual([one, other]);
  await service.move(id, 'Cancelled', lee);
  expect(await needed()).toEqual([other]);
});

it('lists the strategy in a draft of another user without the id and title of that draft', async () => {
  const { id } = await service.add(using('banner', [beta]), mia);
  expect(await usesOf(beta, mia)).toMatchObject([{ changeRequest: { id } }]);
  expect(await usesOf(beta, kim)).toMatchObject([{ featureName: 'banner', changeRequest: { id: null, title: null } }]);
});

it('omits projects that are hidden from the caller', async () => {
  await service.add(using('banner', [beta]), mia);
  expect(await usesOf(beta, { ...kim, hiddenProjects: ['shop'] })).toEqual([]);
});

const update = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-production', title: 'ours' } };
const notFound = { kind: 'NotFoundError', message: 'Could not find project with id shop' };

describe('a request of an archived or deleted project', () => {
  const at = (id: number) => ({ params: { projectId: 'shop', id } });

  it('is not found by any operation, and is not changed', async () => {
    const { id, features } = await service.add(
      [update, { ...update, payload: { id: 'in-production', title: 'b' } }],
      lee,
    );
    const changeId = features[0]?.changes[0]?.id ?? 0;
    const before = await service.get(id, lee);
    const emitted = await service.emittedEvents();
    service.features.deleteProject('shop');
    const scheduledAt = new Date(Date.now() + 60_000).toISOString();
    for (const operation of [
      () => service.call(GetChangeRequest, at(id), lee),
      () => service.call(PreviewChangeRequest, at(id), lee),
      () => service.call(GetApprovers, at(id), lee),
      () => service.call(SetApprovers, { ...at(id), body: { reviewers: [rita.id] } }, lee),
      () => service.call(AddComment, { ...at(id), body: { text: 'hello' } }, lee),
      () => service.call(SetTitle, { ...at(id), body: { title: 'renamed' } }, lee),
      () => service.call(DiscardChange, { params: { ...at(id).params, changeId } }, lee),
      () => service.call(DiscardDraft, at(id), lee),
      () => service.call(RevertChangeRequest, at(id), lee),
      () => service.move(id, 'In review', lee),
      () => service.move(id, 'Cancelled', lee),
      () => service.move(id, 'Scheduled', ada, { scheduledAt }),
      () => service.move(id, 'Applied', ada),
    ])
      await expect(operation()).rejects.toMatchObject(notFound);
    expect(await service.emittedEvents()).toEqual(emitted);
    service.features.reset();
    expect(await service.get(id, lee)).toEqual(before);
  });

  it('is refused for its project, also if there is no such request', async () => {
    service.features.deleteProject('shop');
    for (let nth = 0; nth < 20; nth++)
      for (const operation of [GetChangeRequest, GetApprovers])
        await expect(service.call(operation, at(987_654), lee)).rejects.toMatchObject(notFound);
  });

  it('is not found after it was closed', async () => {
    const { id } = await service.add(update, lee);
    await service.move(id, 'Cancelled', lee);
    service.features.deleteProject('shop');
    await expect(service.get(id, lee)).rejects.toMatchObject(notFound);
    await expect(service.call(AddComment, { ...at(id), body: { text: 'hello' } }, lee)).rejects.toMatchObject(notFound);
  });
});

describe('a filter of change requests', () => {
  it('matches every request where it is absent', () => {
    expect(parseChangeRequestFilter({})).toEqual({});
  });

  it('names the author, a requested approver, and whether requests are open', () => {
    expect(parseChangeRequestFilter({ createdBy: 'IS:7', requestedApproverId: 'IS:8', state: 'IS:open' })).toEqual({
      createdBy: 7,
      requestedApprover: 8,
      state: 'open',
    });
    expect(parseChangeRequestFilter({ state: 'IS:closed' })).toEqual({ state: 'closed' });
  });

  it.each([
    [{ createdBy: '7' }, 'The `/query/createdBy` property must begin with IS, and a colon. You sent "7".'],
    [{ createdBy: 'IS:-7' }, 'The `/query/createdBy` property must end with the id of a user. You sent "IS:-7".'],
    [
      { requestedApproverId: 'IS:1,2' },
      'The `/query/requestedApproverId` property must end with the id of a user. You sent "IS:1,2".',
    ],
    [
      { state: 'IS:Draft' },
      'The `/query/state` property must end with open, closed or scheduled. You sent "IS:Draft".',
    ],
  ])('is refused where it is malformed: %j', (query, message) => {
    expect(() => parseChangeRequestFilter(query)).toThrow(message);
  });
});
