import type { SchemaStep } from '@bunting/database';

/** What imports may not do by themselves, until the change requests service has it. */
export const importProposals: SchemaStep = {
  name: '2026-11-29-import-proposals',
  statements: [
    `create table import_proposal (
      id uuid primary key,
      proposal json not null,
      created_at timestamptz not null default clock_timestamp()
    )`,
  ],
};
