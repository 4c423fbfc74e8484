import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { UserSession } from '@bunting/contracts';
import { batchedRead, type Database, prepared, type Statement, type Tx } from '@bunting/database';
import type { Principal } from '@bunting/http';
import { gatewaySql, SessionEntity } from '../../unit-of-work/entities.ts';
import type { SecretHasher } from '../../unit-of-work/secrets.ts';
import { callerOf, type UserRightsRow, userRightsSql } from '../rights/rights-store.ts';

export interface SessionClient {
  readonly userAgent: string;
  readonly address: string;
}

/** The hours after which sessions end: without a request, and in any case. */
export interface SessionLimits {
  readonly idleHours: number;
  readonly maxHours: number;
}

/** Maximum sessions of one user; a further one ends the least recently used. */
const maxPerUser = 20;
const maxUserAgentLength = 255;

/** The text that is hashed for a session. Its prefix ensures that the hash of a session is never that of an API token. */
function sessionTextToHash(secret: string): string {
  return `session ${secret}`;
}

/** SQL: when the session `s` ends if no further request uses it. */
function sessionEndSql({ idleHours }: SessionLimits): string {
  return `least(s.expires_at, s.seen_at + interval '${idleHours} hours')`;
}

const columns = gatewaySql.selectOf(SessionEntity, 's');

export function sessionReads({ query }: Pick<Tx, 'query'>, limits: SessionLimits) {
  return {
    /** The sessions of a user that have not expired, the most recently used first. */
    list: async (userId: number): Promise<Omit<UserSession, 'isCurrent'>[]> =>
      query(
        `select ${columns} from user_session s where user_id = $1 and ${sessionEndSql(limits)} > now() order by seen_at desc, id`,
        [userId],
      ),
  };
}

/** The sessions of users. A request that carries the secret of a session acts as the user of the session. */
export function sessionRepository({ query }: Pick<Tx, 'query'>, hasher: SecretHasher, limits: SessionLimits) {
  const end = sessionEndSql(limits);
  return {
    ...sessionReads({ query }, limits),
    /** Starts a session with a new secret, which is stored as a hash only. @returns the secret, for the cookie */
    start: async (userId: number, { userAgent, address }: SessionClient): Promise<string> => {
      const secret = randomBytes(32).toString('base64url');
      const { selector, hash } = hasher(sessionTextToHash(secret));
      await query(
        `delete from user_session s using (
           select id from user_session s where ${end} <= now()
           union select id from (
             select id from user_session where user_id = $1 order by seen_at desc offset ${maxPerUser - 1}
           ) as oldest
         ) as ended where s.id = ended.id`,
        [userId],
      );
      await query(
        `insert into user_session (user_id, selector, hash, user_agent, address, expires_at)
         values ($1, $2, $3, $4, $5, now() + interval '${limits.maxHours} hours')`,
        [userId, selector, hash, userAgent.slice(0, maxUserAgentLength), address],
      );
      await query('update api_user set seen_at = greatest(seen_at, now()) where id = $1', [userId]);
      return secret;
    },
    /** Ends one session of a user. @returns whether there was one */
    end: async (userId: number, id: string): Promise<boolean> =>
      (await query('delete from user_session where user_id = $1 and id = $2 returning id', [userId, id])).length > 0,
    /** Ends all sessions of a user, except for one if its id is given. @returns the number of sessions that ended */
    endAll: async (userId: number, exceptId: string | null = null): Promise<number> =>
      (
        await query('delete from user_session where user_id = $1 and id is distinct from $2::uuid returning id', [
          userId,
          exceptId,
        ])
      ).length,
  };
}
export type SessionRepository = ReturnType<typeof sessionRepository>;

interface Row extends UserRightsRow {
  readonly id: string;
  readonly hash: Buffer;
  readonly lives_ms: number;
}

function validSession(end: string): Statement {
  return prepared(`
    select nth::int, s.id, s.hash, (extract(epoch from ${end} - now()) * 1000)::float8 as lives_ms,
      u.id as user_id, u.name as user_name, u.username, u.email, u.is_service, ${userRightsSql} as access
    from unnest($1::text[]) with ordinality as requested (selector, nth) join user_session s using (selector)
    join api_user u on u.id = s.user_id
    where ${end} > now() and u.is_active and u.deleted_at is null`);
}

/** Looks sessions up by the secrets of their cookies, in batches, on at most two connections. */
export function sessionLookup(database: Pick<Database, 'read'>, hasher: SecretHasher, limits: SessionLimits) {
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
}
export type SessionLookup = ReturnType<typeof sessionLookup>;
