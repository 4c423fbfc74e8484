import { Refusal } from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { callers, type StartedChangeRequests, startChangeRequests } from '../../test/started-change-requests.ts';

/** How often each race is run; CHANGE_REQUEST_RACE_ROUNDS=500 runs more (README.md says how). */
const rounds = Number(process.env['CHANGE_REQUEST_RACE_ROUNDS'] ?? 25);
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const aStrategy = {
  action: 'addStrategy',
  feature: 'checkout',
  payload: { name: 'default', constraints: [], parameters: {} },
};
const { lee, rita, ron, ada } = callers;

let service: StartedChangeRequests;
let replica: StartedChangeRequests;
beforeAll(async () => {
  service = await startChangeRequests();
  replica = await startChangeRequests({ url: service.url });
});
beforeEach(() => service.reset());
afterAll(async () => {
  await replica.stop();
  await service.stop();
});

async function inReview() {
  const { id, revision } = await service.add([enable], lee);
  await service.move(id, 'In review', lee);
  return { id, revision };
}
/** True if it succeeded, false if it was refused because of a concurrent user. */
function done(deed: Promise<unknown>): Promise<boolean> {
  return deed.then(
    () => true,
    (error: unknown) => {
      if (error instanceof Refusal && error.kind === 'ConflictError') return false;
      throw error;
    },
  );
}
/** Closes the request, so that the next round begins with another. */
function close(id: number) {
  return service.database.transaction(({ query }) =>
    query("update change_request set state = 'Cancelled' where id = $1", [id]),
  );
}
async function countEvents(type: string, id: number) {
  const text = `select count(*) as count from outbox where type = $1 and (payload -> 'data' ->> 'changeRequestId')::bigint = $2`;
  return (await service.database.read<{ count: number }>({ text }, [type, id]))[0]?.count;
}

describe(`concurrent commands in ${rounds} rounds`, () => {
  it('count each of two approvers once, and approve the request once', async () => {
    for (let round = 0; round < rounds; round++) {
      const { id } = await inReview();
      const both = [done(service.move(id, 'Approved', rita)), done(replica.move(id, 'Approved', ron))];
      expect(await Promise.all(both)).toEqual([true, true]);
      const { state, approvals } = await service.get(id);
      expect([state, approvals?.length]).toEqual(['Approved', 2]);
      expect([
        await countEvents('change-request-approval-added', id),
        await countEvents('change-request-approved', id),
      ]).toEqual([2, 1]);
      await close(id);
    }
  });

  it('never approve an edit that the approver has not seen', async () => {
    for (let round = 0; round < rounds; round++) {
      const { id, revision } = await inReview();
      await Promise.all([
        done(service.add(aStrategy, lee)),
        done(replica.move(id, 'Approved', rita, { revision: revision ?? 0 })),
      ]);
      const { state, approvals, features } = await service.get(id);
      expect(features[0]?.changes).toHaveLength(2);
      expect([state, approvals]).toEqual(['In review', []]);
      await close(id);
    }
  });

  it('apply only the approved revision', async () => {
    for (let round = 0; round < rounds; round++) {
      const { id } = await inReview();
      await service.move(id, 'Approved', rita);
      const [edited, applied] = await Promise.all([
        done(service.add(aStrategy, lee)),
        done(replica.move(id, 'Applied', ada)),
      ]);
      const request = await service.get(id);
      const wasApplied = replica.features.applied.filter((one) => one.id === id);
      if (applied) {
        expect(request.state).toBe('Applied');
        expect(wasApplied).toMatchObject([{ changes: [{ change: enable }] }]);
        expect(request.features[0]?.changes).toHaveLength(1);
        for (const { id: other } of await service.pending(lee)) await close(other);
      } else {
        expect(edited).toBe(true);
        expect([request.state, request.approvals, wasApplied]).toEqual(['In review', [], []]);
        await close(id);
      }
    }
  });

  it('apply a request once when two users apply it', async () => {
    for (let round = 0; round < rounds; round++) {
      const { id } = await inReview();
      await service.move(id, 'Approved', rita);
      const both = [done(service.move(id, 'Applied', ada)), done(replica.move(id, 'Applied', ada))];
      expect((await Promise.all(both)).toSorted()).toEqual([false, true]);
      const applied = [service, replica].flatMap(({ features }) => features.applied.filter((one) => one.id === id));
      expect(applied).toHaveLength(1);
      expect(await countEvents('change-request-applied', id)).toBe(1);
    }
  });
});
