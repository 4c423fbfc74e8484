import type { SchemaStep } from '@bunting/database';

/** The archive is read latest first, and is small beside what is active: it is found without a look at that. */
export const archivedFeatures: SchemaStep = {
  name: '2026-11-27-archived-features',
  statements: ['create index feature_archived on feature (archived_at desc, name) where archived_at is not null'],
};
