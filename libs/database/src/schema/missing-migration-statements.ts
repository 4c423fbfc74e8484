import { type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import type { Entity } from './entity-sql.ts';
import { migrationsTable } from './schema-version.ts';

/** Tables of libraries, which have tests of their own: applied migrations, outbox, checkpoints of consumers and stored replies. */
const libraryTables = [
  migrationsTable,
  /^outbox/,
  'consumer_checkpoint',
  'dead_letter',
  'missed_message',
  'idempotent_reply',
];

/**
 * The statements that the next migration needs to bring a database to the schema of the entities; none where they agree. `otherTables`
 * names tables without an entity; the statements drop any other table without one. Views, triggers and functions are not compared.
 */
export const missingMigrationStatements = async (
  url: string,
  entities: readonly Entity[],
  otherTables: readonly (string | RegExp)[] = [],
): Promise<readonly string[]> => {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities] as EntitySchema[],
    ensureDatabase: false,
    schemaGenerator: {
      skipTables: [...libraryTables, ...otherTables],
      skipViews: [/./],
      ignoreTriggers: true,
      ignoreRoutines: true,
    },
  });
  try {
    const sql = await orm.schema.getUpdateSchemaSQL({ wrap: false });
    return sql.split('\n').filter((line) => line !== '');
  } finally {
    await orm.close(true);
  }
};
