import { AddChanges } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../../test/started-change-requests.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const { lee, rita } = callers;

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

const proposeInNewDraft = (body: unknown = enable) =>
  service.call(
    AddChanges,
    { params: { projectId: 'shop', environment: 'production' }, query: { new: true }, body },
    lee,
  );
const states = async () => (await service.pending(lee)).map(({ id, state }) => [id, state]);

describe('a change with ?new=true', () => {
  it('does not change the requests in review or approved', async () => {
    const reviewed = await service.add(enable, lee);
    await service.move(reviewed.id, 'In review', lee);
    await service.move(reviewed.id, 'Approved', rita);
    const draft = await proposeInNewDraft();
    expect(await states()).toEqual([
      [reviewed.id, 'Approved'],
      [draft.id, 'Draft'],
    ]);
    // From now on the draft is what is added to, whichever way.
    expect((await service.add(enable, lee)).id).toBe(draft.id);
    expect((await proposeInNewDraft()).id).toBe(draft.id);
  });

  it('joins an existing draft: a user has at most one', async () => {
    const draft = await service.add(enable, lee);
    expect((await proposeInNewDraft()).id).toBe(draft.id);
  });

  it('creates one draft for concurrent proposals', async () => {
    const reviewed = await service.add(enable, lee);
    await service.move(reviewed.id, 'In review', lee);
    const titled = (nth: number) => ({
      action: 'addStrategy',
      feature: 'checkout',
      payload: { name: 'default', constraints: [], parameters: {}, title: `${nth}` },
    });
    const made = await Promise.all(Array.from({ length: 10 }, (_, nth) => proposeInNewDraft(titled(nth))));
    expect(new Set(made.map(({ id }) => id)).size).toBe(1);
    expect(await states()).toHaveLength(2);
    expect((await service.pending(lee))[1]?.features[0]?.changes).toHaveLength(10);
  });

  it('differs from a change without it, which joins the request in review and removes its approvals', async () => {
    const reviewed = await service.add(enable, lee);
    await service.move(reviewed.id, 'In review', lee);
    expect((await service.add({ ...enable, payload: { enabled: false } }, lee)).id).toBe(reviewed.id);
  });
});

describe('a change that comes while the request of its author is being applied', () => {
  const { ada } = callers;
  const approved = async () => {
    const { id } = await service.add(enable, lee);
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', rita);
    return id;
  };

  it('creates a new draft instead of changing that request', async () => {
    const id = await approved();
    let draft: { readonly id: number; readonly state: string } | undefined;
    let added: () => void = () => undefined;
    const isAdded = new Promise<void>((resolve) => (added = resolve));
    service.features.whileApplying('before', async () => {
      draft = await service.add({ ...enable, payload: { enabled: false } }, lee).finally(added);
    });
    await service.move(id, 'Applied', ada);
    await isAdded;
    expect(draft).toMatchObject({ state: 'Draft' });
    expect(draft?.id).not.toBe(id);
    expect(await states()).toEqual([[draft?.id, 'Draft']]);
  });

  it('creates a new draft, although it was checked against the request before its decision', async () => {
    const id = await approved();
    service.features.meanwhile(() => service.move(id, 'Applied', ada));
    const draft = await service.add({ ...enable, payload: { enabled: false } }, lee);
    expect(draft).toMatchObject({ state: 'Draft' });
    expect(draft.id).not.toBe(id);
  });
});

describe('adding to a request', () => {
  it('makes one call about the feature only, for the fortieth change as for the first', async () => {
    const toggle = (feature: string) => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
    service.features.know(Array.from({ length: 40 }, (_, nth) => `flag-${nth}`));
    const costs: { calls: number; earlier: number }[] = [];
    for (let nth = 0; nth < 40; nth++) {
      await service.add(toggle(`flag-${nth}`), lee);
      const requests = service.features.checkRequests;
      costs.push({ calls: requests.length - nth, earlier: requests.at(-1)?.earlier.length ?? -1 });
    }
    expect(costs).toEqual(Array.from({ length: 40 }, () => ({ calls: 1, earlier: 0 })));
  });
});
