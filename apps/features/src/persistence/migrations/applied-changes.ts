import type { SchemaStep } from '@bunting/database';

/** What became of applying change requests: the answer of the latest attempt, and of all that come after it was applied. */
export const appliedChangeRequests: SchemaStep = {
  name: '2026-11-22-applied-change-requests',
  statements: [
    `create table applied_change_request (
      id bigint primary key,
      attempt integer not null,
      result jsonb
    )`,
  ],
};
