import type { UserSession } from '@bunting/contracts';
import type { Tx } from '@bunting/database';
import { randomBytes } from 'node:crypto';
import { gatewaySql, SessionEntity } from '../../unit-of-work/entities.ts';
import type { SecretHasher } from '../../persistence/secrets/secret-hasher.ts';

/** The browser that a session is started in. */
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
export const sessionTextToHash = (secret: string): string => `session ${secret}`;

/** SQL: when the session `s` ends if no further request uses it. */
export const sessionEndSql = ({ idleHours }: SessionLimits): string =>
  `least(s.expires_at, s.seen_at + interval '${idleHours} hours')`;

const columns = gatewaySql.selectOf(SessionEntity, 's');

/** Reads of sessions without a lock. */
export const sessionReads = ({ query }: Pick<Tx, 'query'>, limits: SessionLimits) => ({
  /** The sessions of a user that have not expired, the most recently used first. */
  list: async (userId: number): Promise<Omit<UserSession, 'isCurrent'>[]> =>
    query(
      `select ${columns} from user_session s where user_id = $1 and ${sessionEndSql(limits)} > now() order by seen_at desc, id`,
      [userId],
    ),
});

/** The sessions of users. A request that carries the secret of a session acts as the user of the session. */
export const sessionRepository = ({ query }: Pick<Tx, 'query'>, hasher: SecretHasher, limits: SessionLimits) => {
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
};
export type SessionRepository = ReturnType<typeof sessionRepository>;
