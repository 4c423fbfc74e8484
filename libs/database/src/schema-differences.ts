import { type EntitySchema, MikroORM } from '@mikro-orm/postgresql';
import type { Entity } from './entities.ts';
import { migrationsTable } from './migrate.ts';

/** Tables that libraries own, with their own tests: the migrations that were applied, outbox, inbox and stored replies. */
const ofLibraries = [migrationsTable, /^outbox/, /^inbox/, 'dead_letter', 'missed_message', 'idempotent_answer'];

/**
 * The statements that would make the schema of a database that of the entities: none where they agree. They are what the next
 * migration has to hold. Tables without an entity are named in `others`; one that is not named is to be dropped. Views,
 * triggers and functions are not compared.
 */
export const schemaDifferences = async (
  url: string,
  entities: readonly Entity[],
  others: readonly (string | RegExp)[] = [],
): Promise<readonly string[]> => {
  const orm = await MikroORM.init({
    clientUrl: url,
    entities: [...entities] as EntitySchema[],
    ensureDatabase: false,
    schemaGenerator: {
      skipTables: [...ofLibraries, ...others],
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
