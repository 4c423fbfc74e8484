import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Bus, implement, inProcessBus, serve } from '@bunting/bus';
import { type OutboxMessage, type ProjectState, outboxOperations } from '@bunting/contracts';
import type { Database } from '@bunting/database';
import { openLog } from '@bunting/runtime';
import { randomUUID } from 'node:crypto';
import type { Static } from 'typebox';
import { openGatewayDatabase } from '../../test/started-gateway.ts';
import { consumeProjectStates } from '../access/rights/subscriptions.ts';

let database: Database;
let stop: () => Promise<void>;
let bus: Bus;
/** the outbox of the features service, as it is now */
let outbox: readonly OutboxMessage[] = [];

beforeAll(async () => {
  ({ database, stop } = await openGatewayDatabase());
  bus = inProcessBus();
  await serve(bus, [
    implement(outboxOperations.features, async ({ body: { after } }) => ({
      head: outbox.at(-1)?.position ?? 0,
      at: outbox.find(({ position }) => position === after)?.uid ?? null,
      messages: outbox.filter(({ position }) => position > after),
    })),
  ]);
});
afterAll(async () => {
  await bus.close();
  await stop();
});

const stateMessage = (version: number, mode: Static<typeof ProjectState>['mode']): OutboxMessage => ({
  position: version,
  uid: randomUUID(),
  type: 'project',
  traceparent: null,
  recordedAt: new Date().toISOString(),
  payload: { entity: 'project', id: 'secret', version, state: { id: 'secret', mode, createdBy: null } },
});
const modeOf = async (id: string) =>
  (await database.read<{ mode: string }>({ name: '', text: 'select mode from project where id = $1' }, [id]))[0]?.mode;

it('hides a project that was made private after the features service was restored from a backup', async () => {
  const backup = [stateMessage(1, 'open')];
  outbox = [...backup, stateMessage(2, 'protected'), stateMessage(3, 'open'), stateMessage(4, 'open')];
  const projects = await consumeProjectStates({
    bus,
    database,
    intervalMs: 60_000,
    metrics: undefined,
    log: openLog('silent'),
  });
  expect(await projects.catchUp(100_000)).toBe(0);
  outbox = [...backup, stateMessage(2, 'private')];
  expect(await projects.catchUp(100_000)).toBe(0);
  expect(await modeOf('secret')).toBe('private');
  await projects.stop();
});
