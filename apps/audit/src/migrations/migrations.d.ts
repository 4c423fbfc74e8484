import type { SchemaMigration } from '@bunting/database';
/** The migrations of the event log's database, in the order in which they are applied. */
export declare const auditMigrations: readonly SchemaMigration[];
