import { openDatabase } from '@bunting/database';
import { eventually, type FreshDatabase } from '@bunting/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  callers,
  freshChangeRequestsDatabase,
  startChangeRequests,
  type StartedChangeRequests,
} from '../../test/started-change-requests.ts';
import { changeRequestMigrations as steps } from '../migrations/index.ts';

const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const { lee, rita, ada } = callers;
const hour = 3_600_000;

let fresh: FreshDatabase;
let service: StartedChangeRequests;
beforeEach(async () => {
  fresh = await freshChangeRequestsDatabase();
  service = await startChangeRequests({ url: fresh.url });
});
const realDate = globalThis.Date;
afterEach(async () => {
  globalThis.Date = realDate;
  await service.stop();
  await fresh.drop();
});

/** From now on, the clock of this process differs from that of PostgreSQL and of other processes. */
function step(ms: number): void {
  globalThis.Date = class extends realDate {
    constructor(...given: unknown[]) {
      super(...((given.length === 0 ? [realDate.now() + ms] : given) as [number]));
    }
    static override now(): number {
      return realDate.now() + ms;
    }
  } as DateConstructor;
}

async function scheduled(inMs: number): Promise<{ id: number }> {
  const { id } = await service.add(enable, lee);
  await service.move(id, 'In review', lee);
  await service.move(id, 'Approved', rita);
  await service.move(id, 'Scheduled', ada, { scheduledAt: new realDate(realDate.now() + inMs).toISOString() });
  return { id };
}
/** When the request was applied, by the clock that all replicas share. */
async function appliedAt(id: number): Promise<number> {
  const { state, stateTimestamps } = await eventually(async () => {
    const request = await service.get(id);
    expect(request.state).toBe('Applied');
    return request;
  });
  return realDate.parse(stateTimestamps?.[state] ?? '');
}

describe('a replica whose clock steps', () => {
  it.each([
    ['an hour ahead', hour],
    ['an hour back', -hour],
  ])('%s applies a request at its scheduled time, and not before it', async (_, ms) => {
    const { id } = await scheduled(60_000);
    step(ms);
    const at = realDate.now() + 300;
    await service.database.transaction(({ query }) =>
      query('update schedule set scheduled_at = $1', [new realDate(at).toISOString()]),
    );
    service.wake();
    // An hour late is later than the test waits.
    expect(await appliedAt(id)).toBeGreaterThanOrEqual(at);
    expect(service.features.applied).toHaveLength(1);
  });

  it('records every step of a request by the clock of the database', async () => {
    const { id } = await service.add(enable, lee);
    step(hour);
    await service.move(id, 'In review', lee);
    await service.move(id, 'Approved', rita, { comment: 'Fine' });
    step(-hour);
    await service.move(id, 'Applied', ada);
    const { stateTimestamps = {}, comments, approvals } = await service.get(id);
    const steps = ['Draft', 'In review', 'Approved', 'Applied'].map((state) => stateTimestamps[state] ?? '');
    expect(steps).toEqual(steps.toSorted());
    expect([comments?.[0]?.createdAt, approvals?.[0]?.createdAt]).toEqual([steps[2], steps[2]]);
  });

  it.each([
    ['an hour ahead, a time that is to come', hour, 60_000, 'Scheduled'],
    ['an hour back, a time that is over', -hour, -60_000, 'Approved'],
  ])('%s is judged by the clock of the database', async (_, ms, inMs, state) => {
    step(ms);
    const attempt = scheduled(inMs);
    if (inMs > 0) await attempt;
    else await expect(attempt).rejects.toThrow('/body/scheduledAt');
    const [found] = await service.database.read<{ state: string }>({ text: 'select state from change_request' });
    expect(found?.state).toBe(state);
  });
});

describe('a schedule outlives the service', () => {
  it.each([
    ['for a minute: it is applied late, and once', '-1 minute', { state: 'Applied' }, 1],
    [
      'for an hour: it fails, with the reason, and waits to be rescheduled',
      '-1 hour',
      { schedule: { status: 'failed', reason: 'it could not begin within 15 minutes of the scheduled time' } },
      0,
    ],
  ])('that does not run %s', async (_, when, expected, times) => {
    const { id } = await scheduled(60_000);
    await service.stop();
    const asleep = await openDatabase({ url: fresh.url, name: 'time that passes', migrations: steps });
    await asleep.transaction(({ query }) => query('update schedule set scheduled_at = now() + $1::interval', [when]));
    await asleep.close();
    service = await startChangeRequests({ url: fresh.url });
    await eventually(async () => expect(await service.get(id)).toMatchObject(expected));
    expect(service.features.applied).toHaveLength(times);
  });
});
