import type { SchemaStep } from '@bunting/database';

/** When the documents were compared with the features service last, and how far their contents were; and the last reindex. */
export const reconciliationTables: SchemaStep = {
  name: '2026-11-22-search-reconciliation',
  statements: [
    `create table reconciliation (claimed_at timestamptz not null, compared_up_to text collate "C" not null)`,
    `insert into reconciliation values ('-infinity', '')`,
    `create table reindex (
      state text not null check (state in ('running', 'done', 'failed')),
      done bigint not null,
      "all" bigint not null,
      started_at timestamptz not null,
      heard_of_at timestamptz not null,
      finished_at timestamptz,
      reason text
    )`,
  ],
};
