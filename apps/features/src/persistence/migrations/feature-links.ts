import type { SchemaStep } from '@bunting/database';

/** Links belong to their feature, and are written and read with it. */
export const featureLinks: SchemaStep = {
  name: '2026-12-02-feature-links',
  statements: ["alter table feature add column links jsonb not null default '[]'"],
};
