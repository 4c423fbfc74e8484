import type { SchemaStep } from '@bunting/database';

/**
 * The version that a feature had after its last edit. Its version also counts what is told anew without one, such as
 * figures of its use, and would make every tag stale within a minute.
 */
export const editions: SchemaStep = {
  name: '2026-11-27-editions',
  statements: ['alter table feature add column edition integer not null default 0'],
};
