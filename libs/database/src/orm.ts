import { type EntityManager, type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import { Kysely, PostgresDialect } from 'kysely';
import type { Pool, PoolClient } from 'pg';
import type { Entity } from './database.ts';

const withoutConnection = {
  connect: () => Promise.reject(new Error('Entities are used within a transaction only.')),
  end: () => Promise.resolve(),
} as unknown as Pool;

const orms = new WeakMap<readonly Entity[], MikroORM>();

/** The ORM of entities, which are resolved once. It has no connections: each transaction brings its own. */
export function ormOf(entities: readonly Entity[]): MikroORM {
  const known = orms.get(entities);
  if (known !== undefined) return known;
  const orm = new MikroORM({
    dbName: 'unconnected',
    entities: [...entities] as EntitySchema[],
    driverOptions: new PostgresDialect({ pool: withoutConnection }),
    ensureDatabase: false,
    debug: false,
    colors: false,
    batchSize: 1000,
  });
  orms.set(entities, orm);
  return orm;
}

/** An entity manager whose statements run in the transaction of a connection, after BEGIN. */
export function entityManagerOn(
  entities: readonly Entity[],
  client: PoolClient,
  query: PoolClient['query'],
  begun: Promise<unknown>,
): EntityManager {
  // Unprepared: the text of a batch depends on its number of rows.
  const afterBegin = (text: string, values: unknown[]) => begun.then(() => query({ text, values }));
  const connection = {
    query: afterBegin,
    release: () => undefined,
    processID: (client as { processID?: number }).processID,
  };
  const pool = { ...withoutConnection, connect: async () => connection };
  const em = ormOf(entities).em.fork();
  em.setTransactionContext(new Kysely({ dialect: new PostgresDialect({ pool: pool as unknown as Pool }) }));
  return em;
}
