import { EditChange } from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

const enable = (feature = 'checkout') => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
const disable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: false } };
const addStrategy = {
  action: 'addStrategy',
  feature: 'checkout',
  payload: { name: 'flexibleRollout', constraints: [], parameters: { rollout: '5' } },
};

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

/** What reviewing will do: puts a request into a state, with approvals. */
const review = (
  id: number,
  state: string,
  approvedBy: readonly { id: number; name: string }[] = [],
): Promise<unknown> =>
  service.database.transaction(async ({ query }) => {
    await query('update change_request set state = $2 where id = $1', [id, state]);
    for (const { id: userId, name } of approvedBy) {
      await query('insert into approval values ($1, $2, $3, now())', [id, userId, name]);
    }
  });

const emittedTypes = async (): Promise<string[]> => (await service.emittedEvents()).map(({ type }) => type);

describe('the first change that a user proposes', () => {
  it('opens a draft that holds it, and returns it', async () => {
    const before = Date.now();
    const request = await service.add(enable());
    const mia = { id: 7, username: 'mia@bunting.example', imageUrl: gravatarUrlOf('mia@bunting.example') };
    const { createdAt } = request;
    expect(request).toEqual({
      id: expect.any(Number),
      title: `Change request #${request.id}`,
      environment: 'production',
      affectedEnvironments: [],
      project: 'shop',
      minApprovals: 1,
      state: 'Draft',
      features: [
        {
          name: 'checkout',
          changes: [
            { id: expect.any(Number), action: 'updateEnabled', payload: { enabled: true }, createdBy: mia, createdAt },
          ],
        },
      ],
      segments: [],
      approvals: [],
      rejections: [],
      comments: [],
      createdBy: mia,
      createdAt,
      stateTimestamps: { Draft: createdAt },
      revision: 1,
    });
    expect(createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(Date.parse(createdAt)).toBeGreaterThanOrEqual(before);
  });

  it('emits that a request was created, then each change, in one transaction with the request', async () => {
    const request = await service.add([enable(), addStrategy]);
    const [changeA, changeB] = request.features[0]?.changes ?? [];
    expect(await service.emittedEvents()).toMatchObject([
      { type: 'change-request-created', data: { changeRequestId: request.id, minApprovals: 1 }, featureName: null },
      { type: 'change-added', data: { changeRequestId: request.id, changeId: changeA?.id }, featureName: 'checkout' },
      { type: 'change-added', data: { changeRequestId: request.id, changeId: changeB?.id }, featureName: 'checkout' },
    ]);
  });

  it('is emitted without its payload while the request is a draft', async () => {
    await service.add(addStrategy);
    expect(JSON.stringify(await service.emittedEvents())).not.toContain('flexibleRollout');
  });
});

describe('a further change', () => {
  it('joins the pending request of its user', async () => {
    const first = await service.add(enable());
    const second = await service.add(addStrategy);
    expect(second).toMatchObject({ id: first.id, revision: 2 });
    expect(second.features).toMatchObject([
      { changes: [first.features[0]?.changes[0], { action: 'addStrategy', payload: addStrategy.payload }] },
    ]);
  });

  it('is checked on top of the earlier changes', async () => {
    await service.add([enable(), { action: 'updateSegment', payload: { id: 4, name: 'beta' } }]);
    await service.add(addStrategy);
    expect(service.features.checkRequests[1]).toMatchObject({
      project: 'shop',
      environment: 'production',
      changes: [addStrategy],
      earlier: [enable(), { action: 'updateSegment', payload: { id: 4, name: 'beta' } }],
    });
  });

  it('is checked in the place of the change that it replaces, also by an edit of that change', async () => {
    const rename = (name: string) => ({ action: 'updateSegment', payload: { id: 4, name } });
    const { id, segments } = await service.add([rename('a'), enable()]);
    expect(service.features.checkRequests[0]).not.toHaveProperty('order');
    await service.add(rename('b'));
    const changeId = segments[0]?.changes[0]?.id ?? 0;
    await service.call(EditChange, { params: { projectId: 'shop', id, changeId }, body: rename('c') });
    expect(service.features.checkRequests.slice(1)).toMatchObject([
      { earlier: [rename('a')], order: [1] },
      { earlier: [rename('b')], order: [1] },
    ]);
  });

  it('of another user, or for another environment, opens another request', async () => {
    const ids = [
      await service.add(enable()),
      await service.add(enable(), callers.lee),
      await service.add(enable(), callers.mia, 'development'),
    ].map(({ id }) => id);
    expect(new Set(ids).size).toBe(3);
  });

  it.each(['Scheduled', 'Applied', 'Rejected', 'Cancelled'])('opens a new draft when the last is %s', async (state) => {
    const first = await service.add(enable());
    await review(first.id, state);
    const second = await service.add(enable());
    expect(second).toMatchObject({ state: 'Draft', revision: 1 });
    expect(second.id).toBeGreaterThan(first.id);
  });

  it('that replaces an earlier one keeps the id and the snapshot of that', async () => {
    const update = { action: 'updateStrategy', feature: 'checkout' };
    const first = await service.add([
      { ...update, payload: { id: 'in-production', title: 'a', disabled: true } },
      enable(),
    ]);
    await service.add([{ ...update, payload: { id: 'in-production', title: 'b' } }, disable]);
    const [stored] = await service.pending();
    expect(stored?.features[0]?.changes).toMatchObject([
      {
        id: first.features[0]?.changes[0]?.id,
        payload: { id: 'in-production', title: 'b', disabled: true, snapshot: { title: 'as it was' } },
      },
      { id: first.features[0]?.changes[1]?.id, payload: { enabled: false } },
    ]);
    expect((await emittedTypes()).slice(3)).toEqual(['change-edited', 'change-edited']);
  });

  it('that deletes a strategy drops the earlier updates of it', async () => {
    const named = { feature: 'checkout', payload: { id: 'in-production' } };
    await service.add({ action: 'updateStrategy', ...named });
    await service.add({ action: 'deleteStrategy', ...named });
    expect((await service.pending())[0]?.features[0]?.changes).toMatchObject([{ action: 'deleteStrategy' }]);
    expect((await emittedTypes()).slice(2)).toEqual(['change-discarded', 'change-added']);
    expect(await service.stored()).toMatchObject({ change: 1 });
  });

  it('that is already part of the request changes and emits nothing', async () => {
    const archive = { action: 'archiveFeature', feature: 'checkout' };
    const first = await service.add(archive);
    const stored = await service.stored();
    expect(await service.add(archive)).toEqual(first);
    expect(await service.stored()).toEqual(stored);
  });

  it('wipes the approvals of a request in review', async () => {
    const { id } = await service.add(enable());
    await review(id, 'In review', [callers.lee]);
    expect((await service.pending())[0]?.approvals).toMatchObject([{ createdBy: { id: 8, username: 'lee' } }]);
    expect(await service.add(addStrategy)).toMatchObject({ id, state: 'In review', approvals: [] });
    expect(await service.pending()).toMatchObject([{ id, state: 'In review', approvals: [] }]);
    expect(await service.stored()).toMatchObject({ approval: 0 });
  });

  it('sends an approved request back to review, and emits that with its payload', async () => {
    const { id } = await service.add(enable());
    await review(id, 'Approved', [callers.lee, callers.kim]);
    expect(await service.add(addStrategy)).toMatchObject({ id, state: 'In review', approvals: [] });
    expect((await service.emittedEvents()).slice(2)).toMatchObject([
      { type: 'change-added', data: { payload: { name: 'flexibleRollout' } } },
      {
        type: 'change-request-sent-to-review',
        data: { changeRequestId: id, reason: 'changed' },
        preData: { state: 'Approved' },
      },
    ]);
    expect((await service.pending())[0]?.stateTimestamps).toHaveProperty(['In review']);
  });
});

describe('changes of segments', () => {
  it('are listed by segment, with its current name and the replaced values', async () => {
    const { features, segments } = await service.add([
      { action: 'updateSegment', feature: 'not looked at', payload: { id: 4, name: 'beta' } },
      enable(),
    ]);
    expect(features).toMatchObject([{ name: 'checkout' }]);
    expect(segments).toMatchObject([
      {
        id: 4,
        name: 'beta users',
        changes: [
          {
            action: 'updateSegment',
            payload: { id: 4, name: 'beta', snapshot: { id: 4, name: 'beta users', constraints: [] } },
          },
        ],
      },
    ]);
    expect(await service.emittedEvents()).toContainEqual(
      expect.objectContaining({
        featureName: null,
        data: expect.objectContaining({ action: 'updateSegment', segment: { id: 4, name: 'beta users' } }),
      }),
    );
  });
});

describe('actions without a payload', () => {
  it.each([['archiveFeature'], ['deleteDependency']])('%s gets an empty payload', async (action) => {
    for (const [feature, more] of [
      ['checkout', {}],
      ['banner', { payload: null }],
    ] as const) {
      await service.add({ action, feature, ...more });
    }
    expect((await service.pending())[0]?.features).toMatchObject([
      { name: 'checkout', changes: [{ action, payload: {} }] },
      { name: 'banner', changes: [{ action, payload: {} }] },
    ]);
  });
});
