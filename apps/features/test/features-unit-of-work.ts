import { type Bus, call, type CallContext, type CallRequest, inProcessBus, serve } from '@bunting/bus';
import type { AnyOperation, Caller, ReplyOf } from '@bunting/contracts';
import { type Database, onlyRow, openDatabase, type ReadDatabase } from '@bunting/database';
import { startOutboxProducer } from '@bunting/outbox';
import { openLog } from '@bunting/runtime';
import { featuresContext } from '../src/context.ts';
import { featuresEndpoints } from '../src/endpoints.ts';
import { featuresMigrations } from '../src/migrations/index.ts';
import { entities } from '../src/unit-of-work/entities.ts';
import { currentFeatureSql } from '../src/unit-of-work/feature-sql.ts';
import { createReaders } from '../src/unit-of-work/readers.ts';
import { unitOfWork } from '../src/unit-of-work/unit-of-work.ts';
import { callContextOf, freshFeaturesDatabase, mia } from './started-features.ts';

/** The unit of work on a database of the service, without the relay that publishes its outbox. */
export const testUnitOfWork = async (url: string, bus: Bus = inProcessBus()) => {
  const database = await openDatabase({ url, name: 'spec', migrations: featuresMigrations, entities });
  const outboxProducer = startOutboxProducer({
    producer: 'features',
    database,
    bus,
    currentStates: { feature: currentFeatureSql },
    intervalMs: 60_000,
    retentionHours: 1,
    metrics: undefined,
    log: openLog('silent'),
  });
  await outboxProducer.stop();
  return { database, transaction: unitOfWork(outboxProducer, { allowsRegex: false }, () => Promise.resolve()) };
};
export type TestUnitOfWork = Awaited<ReturnType<typeof testUnitOfWork>>;

export interface FeaturesWithoutLoops extends TestUnitOfWork {
  readonly bus: Bus;
  call<O extends AnyOperation>(
    operation: O,
    request: CallRequest<O>,
    caller?: Caller,
    more?: Partial<CallContext>,
  ): Promise<ReplyOf<O>>;
  /** The number of statements that a job executes. */
  statementsOf(job: () => Promise<unknown>): Promise<number>;
  /** The number of times that a job waits for PostgreSQL. */
  roundTripsOf(job: () => Promise<unknown>): Promise<number>;
  /** The bytes of WAL that a job writes by one connection at a time. */
  walBytesOf(job: () => Promise<unknown>): Promise<number>;
  stop(): Promise<void>;
}

/** A budget of applications that is never exhausted. */
const unlimitedBudget = {
  limit: 1_000_000,
  takeFromBudget: (_key: string, wanted: number) => wanted,
  onUnlisted: () => undefined,
};

/** The operations of the service on a database of their own, without its loops, whose statements would be counted, too. */
export const featuresWithoutLoops = async (): Promise<FeaturesWithoutLoops> => {
  const fresh = await freshFeaturesDatabase();
  const bus = inProcessBus();
  const { database, transaction } = await testUnitOfWork(fresh.url, bus);
  const context = featuresContext({
    transaction,
    bus,
    readers: createReaders(database, { allowsRegex: false }),
    applicationBudget: unlimitedBudget,
    allowsRegex: false,
    maxProjects: 500,
    maxSegments: 300,
    maxListsBytes: 512 * 1024 * 1024,
  });
  const served = await serve(bus, featuresEndpoints(context), {
    checkReplies: true,
  });
  return {
    bus,
    database,
    transaction,
    call: (operation, request, caller = mia, more = {}) =>
      call(bus, operation, request, { ...callContextOf(caller), ...more }),
    statementsOf: async (job) => {
      const before = database.statements;
      await job();
      return database.statements - before;
    },
    roundTripsOf: async (job) => {
      const before = database.roundTrips;
      await job();
      return database.roundTrips - before;
    },
    walBytesOf: async (job) => {
      // The pool lends the connection that was returned last, so that of the job is asked.
      const written = async (): Promise<number> => {
        await database.query({ text: 'select pg_stat_force_next_flush()' });
        const text = 'select wal_bytes::int8 as bytes from pg_stat_get_backend_wal(pg_backend_pid())';
        return onlyRow(await database.query<{ bytes: number }>({ text })).bytes;
      };
      const before = await written();
      await job();
      return (await written()) - before;
    },
    stop: async () => {
      await served.stop();
      await database.close();
      await fresh.drop();
    },
  };
};

// The counters also have what earlier transactions of the same connection read and have not reported yet.
const counters = `
  select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_xact_user_tables where relname = $1`;

/** The number of rows of a table that statements read. */
export const rowsRead = (
  { transaction }: Database,
  table: string,
  read: (database: ReadDatabase) => Promise<unknown>,
): Promise<number> =>
  transaction(async ({ query }) => {
    const count = async (): Promise<number> => (await query<{ rows: number }>(counters, [table]))[0]?.rows ?? 0;
    const before = await count();
    await read({ read: ({ text }, values = []) => query(text, [...values]) });
    return (await count()) - before;
  });
