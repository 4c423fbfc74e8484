import type { SchemaMigration } from '@bunting/database';
/** The whole schema of the database, in the order of its steps. */
export declare const integrationsMigrations: readonly SchemaMigration[];
