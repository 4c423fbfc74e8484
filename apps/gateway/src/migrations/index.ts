import type { SchemaMigration } from '@bunting/database';
import { idempotencyTables, consumerTables, outboxTables } from '@bunting/outbox';
import { initial } from './1-initial.ts';
import { slackAccounts } from './2-expand-slack-accounts.ts';
import { inviteRole } from './3-expand-invite-role.ts';
import { inviteAccess } from './4-expand-invite-access.ts';

/** The whole schema of the database, in the order of its steps. */
export const gatewayMigrations: readonly SchemaMigration[] = [
  initial,
  outboxTables,
  consumerTables,
  idempotencyTables,
  slackAccounts,
  inviteRole,
  inviteAccess,
];
