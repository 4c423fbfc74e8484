import { openDatabase } from '@bunting/database';
import { freshDatabase } from '@bunting/testing';
import { expect, it } from 'vitest';
import { Registry } from 'prom-client';
import { registerDeadLetterMetrics } from './dead-letters.ts';
import { consumerTables } from './index.ts';

it('counts dead letters by producer and topic, and keeps the counts while the database cannot be reached', async () => {
  const fresh = await freshDatabase();
  const steps = [consumerTables];
  const database = await openDatabase({ url: fresh.url, name: 'audit', migrations: steps });
  const registry = new Registry();
  // Each projection of a service registers them.
  for (const _projection of ['features', 'gateway']) registerDeadLetterMetrics(registry, 'audit', database);
  expect(await registry.metrics()).toMatch(/^bunting_dead_letters\{producer="gateway",topic="event"\} 0$/m);
  const insert = `insert into dead_letter (producer, topic, position, uid, payload, reason, type, recorded_at, attempts, next_attempt_at)
    select 'gateway', 'event', nth, gen_random_uuid(), '{}', 'no', 'user-created', now(), 1, now() from generate_series(1, 3) as nth`;
  await database.transaction(({ query }) => query(insert));
  const three = /^bunting_dead_letters\{producer="gateway",topic="event"\} 3$/m;
  expect(await registry.metrics()).toMatch(three);
  expect(await registry.metrics()).toMatch(/^bunting_dead_letters\{producer="features",topic="event"\} 0$/m);
  await database.close();
  expect(await registry.metrics()).toMatch(three);
  await fresh.drop();
});
