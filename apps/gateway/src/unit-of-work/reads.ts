import type { Database, Tx } from '@bunting/database';
import { readGatewayStatistics, instanceId } from '../access/instance/instance-store.ts';
import { groupReads } from '../access/groups/group-store.ts';
import { userReads } from '../access/users/user-store.ts';
import { scimReads } from '../access/scim/scim-store.ts';
import { settingReads } from '../access/sign-in/setting-store.ts';
import { inviteLinkReads } from '../access/invite-links/invite-link-store.ts';
import { oneTimeLinkReads } from '../access/passwords/one-time-link-store.ts';
import { passwordReads } from '../access/passwords/password-store.ts';
import { accessReader } from '../access/rights/rights-store.ts';
import { projectRoleReads } from '../access/project-access/project-role-store.ts';
import { roleReads } from '../access/roles/role-store.ts';
import { type SessionLimits, sessionReads } from '../access/sessions/session-store.ts';
import { slackAccountReads } from '../access/slack-accounts/slack-account-store.ts';
import type { SecretCipher, SecretHasher } from './secrets.ts';
import { tokenReads } from '../access/tokens/token-store.ts';

/**
 * Reads without a transaction. PostgreSQL isolates transactions as READ COMMITTED, in which each statement sees what is committed when it
 * starts: a transaction would not show several statements one state, but would cost the round trip of its COMMIT.
 */
export function gatewayReads(
  database: Pick<Database, 'read'>,
  hasher: SecretHasher,
  cipher: SecretCipher | undefined,
  sessionLimits: SessionLimits,
) {
  const tx: Pick<Tx, 'query'> = {
    query: <Row>(text: string, values?: readonly unknown[]) => database.read<Row>({ text }, values),
  };
  return {
    users: userReads(tx),
    groups: groupReads(tx),
    roles: roleReads(tx),
    projectRoles: projectRoleReads(tx),
    access: accessReader(database),
    tokens: tokenReads(tx, cipher),
    sessions: sessionReads(tx, sessionLimits),
    passwords: passwordReads(tx),
    links: oneTimeLinkReads(tx, hasher),
    inviteLinks: inviteLinkReads(tx),
    settings: settingReads(tx),
    slackAccounts: slackAccountReads(tx, hasher),
    scim: scimReads(tx),
    readGatewayStatistics: () => readGatewayStatistics(database),
    instanceId: () => instanceId(database),
  };
}
export type GatewayReads = ReturnType<typeof gatewayReads>;
