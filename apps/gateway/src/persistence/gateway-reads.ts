import type { Database, Tx } from '@bunting/database';
import { readGatewayStatistics } from './read-gateway-statistics.ts';
import { groupReads } from './accounts/group-repository.ts';
import { userReads } from './accounts/user-repository.ts';
import { scimReads } from './scim/scim-repository.ts';
import { settingReads } from './setting-repository.ts';
import { instanceId } from './instance-id.ts';
import { inviteLinkReads } from './links/invite-link-repository.ts';
import { oneTimeLinkReads } from './links/one-time-link-repository.ts';
import { passwordReads } from './passwords/password-repository.ts';
import { accessReader } from './rights/access-reader.ts';
import { projectRoleReads } from './rights/project-role-repository.ts';
import { roleReads } from './rights/role-repository.ts';
import { type SessionLimits, sessionReads } from './sessions/session-repository.ts';
import type { SecretCipher } from './secrets/secret-cipher.ts';
import type { SecretHasher } from './secrets/secret-hasher.ts';
import { tokenReads } from './tokens/token-repository.ts';

/**
 * Reads without a transaction. PostgreSQL isolates transactions as READ COMMITTED, in which each statement sees what is committed when it
 * starts: a transaction would not show several statements one state, but would cost the round trip of its COMMIT.
 */
export const gatewayReads = (
  database: Pick<Database, 'read'>,
  hasher: SecretHasher,
  cipher: SecretCipher | undefined,
  sessionLimits: SessionLimits,
) => {
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
    scim: scimReads(tx),
    readGatewayStatistics: () => readGatewayStatistics(database),
    instanceId: () => instanceId(database),
  };
};
export type GatewayReads = ReturnType<typeof gatewayReads>;
