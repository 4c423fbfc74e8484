import { adminTokenUserId, type Caller } from '@bunting/contracts';
import { type Database, batchedRead, type Statement } from '@bunting/database';
import { timingSafeEqual } from 'node:crypto';
import type { Principal } from '../../domain/principal.ts';
import { grantsOfToken, mayCallAdminApi, type TokenKind } from '../../domain/tokens/token-scope.ts';
import { userRightsSql, type UserRightsRow, callerOf } from '../rights/user-rights-sql.ts';
import type { HashedSecret } from '../secrets/secret-hasher.ts';

interface Row {
  readonly id: string;
  readonly kind: TokenKind;
  readonly name: string;
  readonly hash: Buffer;
  readonly projects: string[];
  readonly deleted_projects: string[];
  readonly environment: string;
  readonly lives_ms: number | null;
}

// Expiry is checked by the clock of the database, which every replica shares.
const validTokenBy = (column: 'selector' | 'id'): Statement => ({
  name: `valid-token-by-${column}`,
  text: `
    select nth::int, token.id, token.kind, token.name, token.hash, token.projects, token.deleted_projects, token.environment,
      (extract(epoch from token.expires_at - now()) * 1000)::float8 as lives_ms,
      u.id as user_id, u.name as user_name, u.username, u.email,
      case when u.id is not null then ${userRightsSql} end as access
    from unnest($1::${column === 'id' ? 'uuid' : 'text'}[]) with ordinality as requested (${column}, nth) join api_token token using (${column})
    left join api_user u on u.id = token.user_id
    where token.revoked_at is null and (token.expires_at is null or token.expires_at > now())
      and (u.id is null or u.is_active and u.deleted_at is null)`,
});

const callerOfToken = (row: Row & (UserRightsRow | { readonly user_id: null })): Caller => {
  if (row.kind !== 'user') {
    const grants = [...grantsOfToken({ ...row, kind: row.kind })];
    const { deleted_projects: deletedProjects } = row;
    const deleted = deletedProjects.length === 0 ? {} : { deletedProjects };
    return { id: adminTokenUserId, name: row.name, tokenId: row.id, grants, ...deleted };
  }
  if (row.user_id === null) throw new Error(`The token ${row.id} of the kind user has no user.`);
  return callerOf(row, row.id);
};

/** Looks tokens up in batches, on at most two connections, so that clients that guess tokens leave the rest of the pool free. */
export const tokenLookup = (database: Database) => {
  const findRow = batchedRead<[selector: string], Row & UserRightsRow>(database, validTokenBy('selector'));
  const findRowById = batchedRead<[id: string], Row & UserRightsRow>(database, validTokenBy('id'));
  const principalOf = (row: Row & UserRightsRow): Principal => ({
    caller: callerOfToken(row),
    mayCallAdminApi: mayCallAdminApi(row.kind),
    isPublic: row.kind === 'frontend',
    expiresInMs: row.lives_ms ?? Number.POSITIVE_INFINITY,
  });
  return {
    /** The principal of a token; undefined for an unknown, expired or revoked one. Compares hashes in constant time. */
    find: async ({ selector, hash }: HashedSecret): Promise<Principal | undefined> => {
      const row = await findRow(selector);
      if (row === undefined || !timingSafeEqual(row.hash, hash)) return undefined;
      return principalOf(row);
    },
    /** The principal of the token with an id; undefined for an unknown, expired or revoked one. */
    findById: async (id: string): Promise<Principal | undefined> => {
      const row = await findRowById(id);
      return row === undefined ? undefined : principalOf(row);
    },
  };
};
export type TokenLookup = ReturnType<typeof tokenLookup>;
