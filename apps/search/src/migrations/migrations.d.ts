import type { SchemaMigration } from '@bunting/database';
/** The complete schema of search. */
export declare const searchMigrations: readonly SchemaMigration[];
