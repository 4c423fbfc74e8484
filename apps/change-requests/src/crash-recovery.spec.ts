import { type Bus, call, openBus } from '@bunting/bus';
import { AddChanges, type Caller, ChangeState, GetChangeRequest } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { eventually, type FreshDatabase, freshDatabase, startNats, type TestNats } from '@bunting/testing';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type FakeFeaturesService, fakeFeaturesService } from '../test/fake-features-service.ts';
import { type FakeGateway, fakeGateway } from '../test/fake-gateway.ts';
import { callContextOf, callers } from '../test/started-change-requests.ts';
import { changeRequestMigrations } from './migrations/index.ts';

const main = new URL('main.ts', import.meta.url).pathname;
const enable = { action: 'updateEnabled', feature: 'checkout', payload: { enabled: true } };
const { lee, rita, ada } = callers;

let nats: TestNats;
let fresh: FreshDatabase;
let database: Database;
let bus: Bus;
let features: FakeFeaturesService;
let gateway: FakeGateway;
let running: ChildProcess;

/** A process of its own, so that it can be killed at any instruction. */
function start(): ChildProcess {
  return spawn(process.execPath, [main], {
    env: {
      ...process.env,
      ...nats.settings,
      CHANGE_REQUESTS_DATABASE_URL: fresh.url,
      CHANGE_REQUESTS_SCHEDULE_INTERVAL_MS: '50',
      CHANGE_REQUESTS_RECOVERY_MS: '100',
      LOG_LEVEL: 'silent',
    },
    stdio: 'ignore',
  });
}
async function kill(): Promise<void> {
  if (running.exitCode !== null || running.signalCode !== null) return;
  const ended = once(running, 'exit');
  running.kill('SIGKILL');
  await ended;
}

beforeAll(async () => {
  [nats, fresh] = await Promise.all([startNats(), freshDatabase('killed')]);
  database = await openDatabase({ url: fresh.url, name: 'spec', migrations: changeRequestMigrations });
  bus = await openBus(nats.url, { name: 'spec', callerKeys: nats.callerKeys });
  features = await fakeFeaturesService(bus);
  gateway = await fakeGateway(bus, Object.values(callers));
  running = start();
});
afterAll(async () => {
  await kill();
  await features.stop();
  await gateway.stop();
  await bus.close();
  await database.close();
  await fresh.drop();
  await nats.stop();
});

function send<O extends Parameters<typeof call>[1]>(operation: O, request: object, caller: Caller) {
  return call(bus, operation, request, callContextOf(caller, 60_000));
}
function move(id: number, state: string, caller: Caller, more = {}) {
  return send(ChangeState, { params: { projectId: 'shop', id }, body: { state, ...more } }, caller);
}
async function stateOf(id: number) {
  return (await send(GetChangeRequest, { params: { projectId: 'shop', id } }, lee)) as { state: string };
}

async function approved(): Promise<number> {
  const params = { projectId: 'shop', environment: 'production' };
  const { id } = (await eventually(() => send(AddChanges, { params, body: enable }, lee))) as {
    id: number;
  };
  await move(id, 'In review', lee);
  await move(id, 'Approved', rita);
  return id;
}
async function appliedEvents(id: number): Promise<number | undefined> {
  const text = `select count(*) as count from outbox
    where type = 'change-request-applied' and (payload -> 'data' ->> 'changeRequestId')::bigint = $1`;
  return (await database.read<{ count: number }>({ text }, [id]))[0]?.count;
}

describe('a process that is killed while it applies a request', () => {
  it.each([
    ['before anything took effect', 'before', {}],
    ['after all took effect', 'after', {}],
    ['before anything took effect, at the time of a schedule', 'before', { isScheduled: true }],
    ['after all took effect, at the time of a schedule', 'after', { isScheduled: true }],
  ] as const)(
    '%s, leaves it to the next process, which applies it once',
    async (_, when, { isScheduled = false }: { isScheduled?: boolean }) => {
      const id = await approved();
      let killed: Promise<void> | undefined;
      features.whileApplying(when, () => (killed = kill()));
      if (isScheduled) {
        await move(id, 'Scheduled', ada, { scheduledAt: '2099-01-01T00:00:00.000Z' });
        await database.transaction(({ query }) => query('update schedule set scheduled_at = now()'));
        bus.notify({ producer: 'change-requests', topic: 'event' });
      } else await move(id, 'Applied', ada).catch(() => undefined);
      await eventually(() => expect(killed).toBeDefined());
      await killed;
      running = start();
      await eventually(async () => expect(await stateOf(id)).toMatchObject({ state: 'Applied' }));
      expect(features.applied.filter((one) => one.id === id)).toHaveLength(1);
      expect(await appliedEvents(id)).toBe(1);
    },
  );
});
