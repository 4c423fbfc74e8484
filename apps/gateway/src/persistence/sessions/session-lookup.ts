import { batchedRead, type Database, type Statement } from '@bunting/database';
import { timingSafeEqual } from 'node:crypto';
import { type UserRightsRow, userRightsSql, callerOf } from '../rights/user-rights-sql.ts';
import type { SecretHasher } from '../secrets/secret-hasher.ts';
import type { Principal } from '../../domain/principal.ts';
import { sessionTextToHash, sessionEndSql, type SessionLimits } from '../../access/sessions/session-store.ts';

interface Row extends UserRightsRow {
  readonly id: string;
  readonly hash: Buffer;
  readonly lives_ms: number;
}

const validSession = (end: string): Statement => ({
  name: 'valid-session',
  text: `
    select nth::int, s.id, s.hash, (extract(epoch from ${end} - now()) * 1000)::float8 as lives_ms,
      u.id as user_id, u.name as user_name, u.username, u.email, ${userRightsSql} as access
    from unnest($1::text[]) with ordinality as requested (selector, nth) join user_session s using (selector)
    join api_user u on u.id = s.user_id
    where ${end} > now() and u.is_active and u.deleted_at is null`,
});

/** Looks sessions up by the secrets of their cookies, in batches, on at most two connections. */
export const sessionLookup = (database: Pick<Database, 'read'>, hasher: SecretHasher, limits: SessionLimits) => {
  const findRow = batchedRead<[selector: string], Row>(database, validSession(sessionEndSql(limits)));
  return {
    /** The user of a session with their current rights; undefined for one that has ended. Compares hashes in constant time. */
    find: async (secret: string): Promise<Principal | undefined> => {
      const { selector, hash } = hasher(sessionTextToHash(secret));
      const row = await findRow(selector);
      if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
      return {
        caller: callerOf(row, row.id),
        mayCallAdminApi: true,
        isPublic: false,
        isSession: true,
        expiresInMs: row.lives_ms,
      };
    },
  };
};
export type SessionLookup = ReturnType<typeof sessionLookup>;
