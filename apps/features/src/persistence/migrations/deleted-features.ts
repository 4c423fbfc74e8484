import type { SchemaStep } from '@bunting/database';

/**
 * The last version of each feature that was deleted. Whoever keeps states remembers it too: another feature of that name
 * counts on from there, for a lower version would be taken for old news.
 */
export const deletedFeatures: SchemaStep = {
  name: '2026-11-25-deleted-features',
  statements: ['create table deleted_feature (name text primary key, version integer not null)'],
};
