import { adminTokenUserId, type Caller } from '@bunting/contracts';
import type { Database, Statement } from '@bunting/database';
import { timingSafeEqual } from 'node:crypto';
import { grantsOfRole, grantsOfToken, mayAdminister, type RootRole, type TokenKind } from '../domain/access.ts';
import { nameInEvents } from '../domain/user.ts';
import type { HashedToken } from './token-key.ts';

/** Who a valid token stands for. */
export interface Principal {
  readonly caller: Caller;
  readonly mayAdminister: boolean;
  /** milliseconds until the token expires; infinite for one that does not */
  readonly livesMs: number;
}

export interface TokenRepository {
  /** Who the token stands for; undefined when there is no such token, or no longer. */
  find(token: HashedToken): Promise<Principal | undefined>;
}

interface Row {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly hash: Buffer;
  readonly projects: string[];
  readonly environment: string;
  readonly lives_ms: number | null;
  readonly user_id: number | null;
  readonly user_name: string | null;
  readonly username: string | null;
  readonly email: string | null;
  readonly root_role: RootRole | null;
}

// Expiry is judged by the clock of the database, which every replica shares.
const validToken: Statement = {
  name: 'valid-token',
  text: `
    select token.id, token.kind, token.name, token.hash, token.projects, token.environment, token.user_id,
      (extract(epoch from token.expires_at - now()) * 1000)::float8 as lives_ms,
      api_user.name as user_name, api_user.username, api_user.email, api_user.root_role
    from api_token token left join api_user on api_user.id = token.user_id
    where token.selector = $1 and token.revoked_at is null and (token.expires_at is null or token.expires_at > now())`,
};

const callerOf = (row: Row): Caller => {
  if (row.kind !== 'user') {
    return {
      id: adminTokenUserId,
      name: row.name,
      tokenId: row.id,
      grants: [...grantsOfToken({ ...row, kind: row.kind })],
    };
  }
  if (row.user_id === null || row.root_role === null) throw new Error(`The token ${row.id} belongs to nobody.`);
  const name = nameInEvents({ name: row.user_name, username: row.username, email: row.email });
  return { id: row.user_id, name, tokenId: row.id, grants: [...grantsOfRole(row.root_role)] };
};

export const tokenRepository = (database: Database): TokenRepository => ({
  find: async ({ selector, hash }) => {
    const [row] = await database.read<Row>(validToken, [selector]);
    if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
    return {
      caller: callerOf(row),
      mayAdminister: mayAdminister(row.kind),
      livesMs: row.lives_ms ?? Number.POSITIVE_INFINITY,
    };
  },
});
