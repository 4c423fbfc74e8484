import {
  AddComment,
  DiscardChange,
  DiscardDraft,
  GetApprovers,
  GetChangeRequest,
  PreviewChangeRequest,
  RevertChangeRequest,
  SetApprovers,
  SetTitle,
} from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

const { lee, rita, ada } = callers;
const update = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'in-production', title: 'ours' } };
const notFound = { kind: 'NotFoundError', message: 'Could not find project with id shop' };

let service: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
});
beforeEach(() => service.reset());
afterAll(() => service.stop());

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
