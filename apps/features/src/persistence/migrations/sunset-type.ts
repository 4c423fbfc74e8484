import type { SchemaStep } from '@bunting/database';

/** The feature type that Unleash has since 8.0, with the lifetime that it has there. */
export const sunsetType: SchemaStep = {
  name: '2026-12-01-sunset-type',
  statements: [
    `insert into feature_type (id, name, description, lifetime_days)
      values ('sunset', 'Sunset', 'Guards code that is about to be removed.', 90) on conflict do nothing`,
  ],
};
