import type { Bus } from '@bunting/bus';
import type { OutboxMessage, OutboxEvent } from '@bunting/contracts';
import { type Database, openDatabase } from '@bunting/database';
import { type Log, openLog } from '@bunting/runtime';
import { freshDatabase } from '@bunting/testing';
import { consumerTables, type Projection, startProjection } from '../src/index.ts';

export const appliedTable = {
  name: '2026-11-21-applied',
  statements: ['create table applied (nth int generated always as identity, name text unique, position bigint)'],
};

export const namesOf = async (database: Database): Promise<string[]> =>
  (await database.read<{ name: string }>({ text: 'select name from applied order by nth' })).map(({ name }) => name);

export const openConsumer = async () => {
  const fresh = await freshDatabase();
  const database = await openDatabase({
    url: fresh.url,
    name: 'audit',
    migrations: [consumerTables, appliedTable],
  });
  return {
    database,
    close: async () => {
      await database.close();
      await fresh.drop();
    },
  };
};

export const follow = (
  bus: Bus,
  database: Database,
  more: {
    apply?: (name: string) => void;
    intervalMs?: number;
    log?: Log;
    deadLetterAfterMs?: number;
  } = {},
): Promise<Projection> =>
  startProjection({
    consumer: 'audit',
    producer: 'features',
    topic: 'event',
    bus,
    database,
    intervalMs: more.intervalMs ?? 60_000,
    metrics: undefined,
    log: more.log ?? openLog('silent'),
    ...(more.deadLetterAfterMs === undefined ? {} : { deadLetterAfterMs: more.deadLetterAfterMs }),
    apply: async ({ query }, messages: readonly OutboxMessage[]) => {
      for (const { payload, position } of messages) {
        const name = (payload as OutboxEvent).featureName ?? '';
        more.apply?.(name);
        await query('insert into applied (name, position) values ($1, $2) on conflict do nothing', [name, position]);
      }
    },
  });
