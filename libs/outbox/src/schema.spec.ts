import { inProcessBus } from '@bunting/bus';
import { openDatabase } from '@bunting/database';
import { eventually, freshDatabase } from '@bunting/testing';
import { expect, it } from '@jest/globals';
import { inboxDeadLetters, inboxHistory, inboxTables, startProjection } from './index.ts';

it('applies the messages that an older version had set aside permanently', async () => {
  const fresh = await freshDatabase();
  const before = await openDatabase({ url: fresh.url, name: 'audit', steps: [inboxTables, inboxHistory] });
  await before.transaction(async ({ query }) => {
    const insert = 'insert into parked_message (producer, topic, position, uid, payload, reason) values';
    const uid = "'00000000-0000-4000-8000-000000000007'";
    await query(`${insert} ('features', 'event', 7, ${uid}, '{"featureName":"flag"}', 'read-only'),
                           ('features', 'event', 9, ${uid}, '{"featureName":"flag"}', 'read-only')`);
  });
  await before.close();

  const database = await openDatabase({
    ...{ url: fresh.url, name: 'audit', steps: [inboxTables, inboxHistory, inboxDeadLetters] },
  });
  const bus = inProcessBus();
  const applied: unknown[] = [];
  const projection = await startProjection({
    ...{ consumer: 'audit', producer: 'features', topic: 'event', bus, database, intervalMs: 60_000 },
    warn: () => undefined,
    apply: async (_, messages) => void applied.push(...messages),
  });
  await eventually(async () =>
    expect(await database.read({ name: 'letters', text: 'select position from dead_letter' })).toEqual([]),
  );
  expect(applied).toEqual([expect.objectContaining({ position: 7, payload: { featureName: 'flag' } })]);
  await projection.stop();
  await bus.close();
  await database.close();
  await fresh.drop();
});
