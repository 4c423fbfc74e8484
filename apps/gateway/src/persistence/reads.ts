import type { Database, Tx } from '@bunting/database';
import { userReads } from './accounts/user-repository.ts';
import { settingReads } from './identity/setting-repository.ts';
import { roleReads } from './rights/role-repository.ts';
import { type SessionLimits, sessionReads } from './sessions/session-repository.ts';

/** Reads of one statement, each without a transaction: one round trip. */
export const gatewayReads = ({ read }: Pick<Database, 'read'>, sessionLimits: SessionLimits) => {
  const tx: Pick<Tx, 'query'> = {
    query: <Row>(text: string, values?: readonly unknown[]) => read<Row>({ text }, values),
  };
  return {
    users: userReads(tx),
    roles: roleReads(tx),
    sessions: sessionReads(tx, sessionLimits),
    settings: settingReads(tx),
  };
};
export type GatewayReads = ReturnType<typeof gatewayReads>;
