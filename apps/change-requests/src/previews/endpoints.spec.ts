import { implement, inProcessBus, serve, systemContext } from '@bunting/bus';
import {
  DescribeChangeRequest,
  GetChangeRequest,
  PreviewChangeRequest,
  PreviewChanges,
  PreviewProposal,
  unavailable,
} from '@bunting/contracts';
import { eventually } from '@bunting/testing';
import { describe, expect, it } from 'vitest';
import { aChange, aRequest } from '../../test/builders.ts';
import { callers, startedChangeRequests } from '../../test/started-change-requests.ts';
import type { ChangeRequestReader } from '../requests/request-read-store.ts';
import { batchesWithinLimits, loadPreviews } from './endpoints.ts';

const service = startedChangeRequests();

describe('a preview', () => {
  const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
  const titled = (title: string) => ({
    action: 'updateStrategy',
    feature: 'checkout',
    payload: { id: 'in-production', title },
  });
  const withSegment = {
    action: 'addStrategy',
    feature: 'banner',
    payload: { name: 'default', constraints: [], parameters: {}, segments: [4] },
  };
  const deletion = { action: 'deleteSegment', payload: { id: 4 } };
  const { lee, kim, rita, ron, ada } = callers;
  type Someone = (typeof callers)[keyof typeof callers];

  const approved = async (body: unknown, author: Someone) => {
    const { id } = await service.add(body, author);
    await service.move(id, 'In review', author);
    await service.move(id, 'Approved', rita === author ? ron : rita);
    return id;
  };
  const scheduled = async (body: unknown, author: Someone) => {
    const id = await approved(body, author);
    await service.move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
    return id;
  };
  const preview = (id: number, caller: Someone) =>
    service.call(PreviewChangeRequest, { params: { projectId: 'shop', id } }, caller);

  describe('a change that a scheduled request would collide with', () => {
    it('names that request in every response, and can still be applied', async () => {
      const planned = await scheduled([enable, titled('planned')], kim);
      const scheduleConflicts = { changeRequests: [{ id: planned }] };
      const answer = await service.add([enable, titled('mine')], lee);
      const [first, second] = answer.features[0]?.changes ?? [];
      expect(first).not.toHaveProperty('scheduleConflicts');
      expect(second).toMatchObject({ scheduleConflicts });
      const shown = [{ features: [{ changes: [{}, { scheduleConflicts }] }] }];
      expect(await service.pending(lee)).toMatchObject(shown);
      expect(await preview(answer.id, lee)).toMatchObject({ ...shown[0], applicable: true });
      const hypothetical = await service.call(
        PreviewProposal,
        { params: { projectId: 'shop', environment: 'production' }, body: titled('thought') },
        ron,
      );
      expect(hypothetical.features[0]?.changes).toMatchObject([{ id: 0, scheduleConflicts }]);
      // The scheduled one does not collide with itself.
      expect(
        JSON.stringify(await service.call(GetChangeRequest, { params: { projectId: 'shop', id: planned } }, kim)),
      ).not.toContain('scheduleConflicts');
    });
  });

  it('says in words what a request does, for services that show it outside of the console', async () => {
    const { id, revision } = await service.add([enable, titled('described')], lee);
    const describeRequest = () =>
      service.call(DescribeChangeRequest, { body: { id, maxChanges: 1 } }, systemContext(5_000).caller);
    expect(await describeRequest()).toMatchObject({ state: 'Draft', changes: [], changeCount: 2 });
    await service.move(id, 'In review', lee);
    const { basis } = await preview(id, rita);
    expect(await describeRequest()).toMatchObject({
      project: 'shop',
      environment: 'production',
      state: 'In review',
      author: expect.stringContaining('lee') as string,
      revision,
      basis,
      approvals: 0,
      minApprovals: 1,
      changes: [{ subject: 'checkout', sentence: 'Turn on in production' }],
      changeCount: 2,
      isComplete: false,
    });
    await service.move(id, 'Rejected', rita);
    expect(await describeRequest()).toMatchObject({ state: 'Rejected', basis: null });
    const plain = await service.add([enable], lee);
    await service.move(plain.id, 'In review', lee);
    const body = { id: plain.id, maxChanges: 1 };
    expect(await service.call(DescribeChangeRequest, { body }, systemContext(5_000).caller)).toMatchObject({
      isComplete: true,
    });
  });

  describe('a segment that another request is about to use', () => {
    const reason = 'Segment beta users is in use';

    it('cannot be deleted, neither immediately nor by a schedule', async () => {
      const id = await approved(deletion, lee);
      expect((await service.get(id)).segments[0]?.changes[0]).not.toHaveProperty('conflict');
      await service.add(withSegment, kim);
      expect((await service.get(id)).segments[0]?.changes).toMatchObject([
        { conflict: reason, conflictCode: 'segment-in-use' },
      ]);
      const refused = { kind: 'ConflictError', message: reason, details: [{ code: 'segment-in-use', segment: 4 }] };
      await expect(service.move(id, 'Applied', ada)).rejects.toMatchObject(refused);
      const time = { scheduledAt: '2099-01-01T00:00:00.000Z' };
      await expect(service.move(id, 'Scheduled', ada, time)).rejects.toMatchObject(refused);
      expect(await service.get(id)).toMatchObject({ state: 'Approved' });
      expect(service.features.applied).toEqual([]);
    });

    it('is not deleted by a schedule that was set earlier', async () => {
      const id = await scheduled(deletion, lee);
      // A request of another user changes nothing that the schedule compares: the collision is found when the schedule is due.
      await eventually(async () => {
        const text = 'select unchecked_edits as "uncheckedEdits" from schedule';
        expect(await service.database.read({ text })).toEqual([{ uncheckedEdits: 0 }]);
      });
      await service.add(withSegment, kim);
      await service.database.transaction(({ query }) =>
        query('update schedule set scheduled_at = now() where change_request_id = $1', [id]),
      );
      await eventually(async () =>
        expect(await service.get(id)).toMatchObject({
          schedule: { status: 'failed', reason: `conflicts: ${reason} (1 in total)` },
        }),
      );
      expect(service.features.applied).toEqual([]);
    });

    it('can be deleted once the other request is closed, or by the request that uses it last', async () => {
      const other = await service.add(withSegment, kim);
      const id = await approved([withSegment, deletion], lee);
      await service.move(other.id, 'Cancelled', kim);
      await service.move(id, 'Applied', ada);
      expect(await service.get(id)).toMatchObject({ state: 'Applied' });
    });
  });
});

function holding(id: number, count: number, text = '') {
  return aRequest({
    id,
    changes: Array.from({ length: count }, (_, nth) => aChange({ id: nth, action: 'addStrategy', payload: { text } })),
  });
}
function idsOf(pages: ReturnType<typeof batchesWithinLimits>) {
  return pages.map((page) => page.map(({ id }) => id));
}

describe('requests to preview', () => {
  it('go into as few calls as their changes allow', () => {
    const requests = [holding(1, 4), holding(2, 6), holding(3, 1), holding(4, 12), holding(5, 1)];
    expect(idsOf(batchesWithinLimits(requests, { changes: 10, characters: 1e9 }))).toEqual([[1, 2], [3], [4], [5]]);
  });

  it('go into calls that the bus can carry, however large a change is', () => {
    const large = 'x'.repeat(1_000);
    const requests = [holding(1, 1, large), holding(2, 1, large), holding(3, 3, large), holding(4, 1)];
    expect(idsOf(batchesWithinLimits(requests, { changes: 1000, characters: 3_000 }))).toEqual([[1, 2], [3], [4]]);
  });

  it('all get their replies, in as many calls as they need', () => {
    expect(batchesWithinLimits([])).toEqual([]);
    expect(batchesWithinLimits(Array.from({ length: 300 }, (_, id) => holding(id, 5))).flat()).toHaveLength(300);
  });

  it('are refused as soon as the database is unavailable, before the features service has replied', async () => {
    const bus = inProcessBus();
    let answer: (reply: { previews: [] }) => void = () => undefined;
    const late = new Promise<{ previews: [] }>((resolve) => (answer = resolve));
    const served = await serve(bus, [implement(PreviewChanges, () => late)]);
    const away = () => Promise.reject(unavailable('The database is away.'));
    const reader = { scheduled: away, segmentUses: away } as Partial<ChangeRequestReader> as ChangeRequestReader;
    const request = loadPreviews(
      { bus, reader },
      [holding(1, 1)],
      { project: 'shop', withStates: false },
      systemContext(60_000),
    );
    await expect(request).rejects.toMatchObject({ kind: 'ServiceUnavailable', message: 'The database is away.' });
    answer({ previews: [] });
    await served.stop();
    await bus.close();
  });
});
