import type { ApiToken, Pat } from '@bunting/contracts';
import type { Database, Tx } from '@bunting/database';
import type { TokenKind } from '../domain/access.ts';
import type { ApiTokenKind, NewToken } from '../domain/new-token.ts';
import { momentOf, momentOrNull } from './people.ts';
import type { NewSecret } from './secrets.ts';
import type { TokenCipher } from './token-cipher.ts';
import type { TokenHasher } from './token-key.ts';

interface TokenRow {
  readonly id: string;
  readonly number: number;
  readonly kind: TokenKind;
  readonly name: string;
  readonly shown: string;
  readonly selector: string;
  readonly sealed: Buffer | null;
  readonly user_id: number | null;
  readonly projects: string[];
  readonly environment: string;
  readonly created_at: string;
  readonly expires_at: string | null;
  readonly seen_at: string | null;
}

/** A token that works, and the key to what is done with it. */
export interface StoredToken extends ApiToken {
  readonly id: string;
  /** its secret; undefined where that is kept as a hash alone */
  readonly readable: string | undefined;
}

export interface NewPat {
  readonly userId: number;
  readonly description: string;
  readonly expiresAt: Date | null;
}

/** The tokens that were not revoked. */
export interface StoredTokens {
  /** API tokens of these kinds; only those that give the project, if one is named. */
  list(kinds: readonly ApiTokenKind[], project?: string): Promise<StoredToken[]>;
  /** An API token by its secret, or by what lists show of it. */
  find(token: string, kinds: readonly ApiTokenKind[]): Promise<StoredToken | undefined>;
  count(): Promise<number>;
  add(token: NewToken, secret: NewSecret, createdBy: number): Promise<StoredToken>;
  setExpiry(id: string, expiresAt: Date): Promise<StoredToken>;
  /** When a token of any kind expires; null for one that does not. */
  expiryOf(id: string): Promise<Date | null>;
  revoke(id: string): Promise<void>;
  /** The keys of a user or a service account. */
  pats(userId: number): Promise<Pat[]>;
  addPat(pat: NewPat, secret: NewSecret, createdBy: number): Promise<Pat>;
  /** What is revoked; undefined when the user has no such key. */
  revokePat(userId: number, id: number): Promise<Pat | undefined>;
}

const columns =
  'id, number, kind, name, shown, selector, sealed, user_id, projects, environment, created_at, expires_at, seen_at';

const apiTokenOf = (row: TokenRow, cipher: TokenCipher | undefined): StoredToken => ({
  id: row.id,
  readable: row.sealed === null ? undefined : cipher?.open(row.sealed, row.selector),
  secret: row.shown,
  tokenName: row.name,
  username: row.name,
  type: row.kind as ApiTokenKind,
  environment: row.environment,
  project: row.projects[0] ?? '*',
  projects: row.projects,
  alias: null,
  createdAt: momentOf(row.created_at),
  expiresAt: momentOrNull(row.expires_at),
  seenAt: momentOrNull(row.seen_at),
});

const patOf = (row: TokenRow): Pat => ({
  id: row.number,
  description: row.name,
  expiresAt: momentOrNull(row.expires_at),
  createdAt: momentOf(row.created_at),
  seenAt: momentOrNull(row.seen_at),
  userId: row.user_id as number,
});

const list = `
  select ${columns} from api_token
  where kind = any ($1::text[]) and revoked_at is null and ($2::text is null or $2 = any (projects) or '*' = any (projects))
  order by number`;

const find = `
  select ${columns} from api_token
  where kind = any ($1::text[]) and revoked_at is null and (shown = $2 or selector = $3 and hash = $4) for update`;

const insert = `
  insert into api_token (kind, name, shown, selector, hash, user_id, projects, environment, expires_at, created_by, sealed)
  values ($1, $2, $3, $4, $5, $6, $7::text[], $8, $9::timestamptz, $10, $11) returning ${columns}`;

export const storedTokens = (
  { query }: Pick<Tx, 'query'>,
  hasher: TokenHasher,
  cipher: TokenCipher | undefined,
): StoredTokens => {
  const tokenOf = (row: TokenRow): StoredToken => apiTokenOf(row, cipher);
  const one = async (text: string, values: readonly unknown[]): Promise<TokenRow> => {
    const [row] = await query<TokenRow>(text, values);
    if (row === undefined) throw new Error('A token was not stored.');
    return row;
  };
  return {
    list: async (kinds, project) => (await query<TokenRow>(list, [kinds, project ?? null])).map(tokenOf),
    find: async (token, kinds) => {
      const { selector, hash } = hasher(token);
      const [row] = await query<TokenRow>(find, [kinds, token, selector, hash]);
      return row === undefined ? undefined : tokenOf(row);
    },
    count: async () => {
      await query('select pg_advisory_xact_lock(hashtext($1))', ['api tokens']);
      const text = "select count(*) from api_token where kind <> 'user' and revoked_at is null";
      return (await query<{ count: number }>(text))[0]?.count ?? 0;
    },
    add: async ({ kind, name, projects, environment, expiresAt }, { secret, shown }, createdBy) => {
      const { selector, hash } = hasher(secret);
      const expires = expiresAt?.toISOString() ?? null;
      const sealed = kind === 'admin' ? null : (cipher?.seal(secret, selector) ?? null);
      const values = [kind, name, shown, selector, hash, null, projects, environment, expires, createdBy, sealed];
      return tokenOf(await one(insert, values));
    },
    setExpiry: async (id, expiresAt) =>
      tokenOf(
        await one(`update api_token set expires_at = $2::timestamptz where id = $1 returning ${columns}`, [
          id,
          expiresAt.toISOString(),
        ]),
      ),
    expiryOf: async (id) => {
      const text = 'select expires_at from api_token where id = $1';
      const [row] = await query<Pick<TokenRow, 'expires_at'>>(text, [id]);
      return row?.expires_at == null ? null : new Date(row.expires_at);
    },
    revoke: async (id) => void (await query('update api_token set revoked_at = now() where id = $1', [id])),
    pats: async (userId) => {
      const text = `select ${columns} from api_token where user_id = $1 and revoked_at is null order by number`;
      return (await query<TokenRow>(text, [userId])).map(patOf);
    },
    addPat: async ({ userId, description, expiresAt }, { secret, shown }, createdBy) => {
      const { selector, hash } = hasher(secret);
      const expires = expiresAt?.toISOString() ?? null;
      return patOf(
        await one(insert, ['user', description, shown, selector, hash, userId, ['*'], '*', expires, createdBy, null]),
      );
    },
    revokePat: async (userId, id) => {
      const text = `
        update api_token set revoked_at = now() where user_id = $1 and number = $2 and revoked_at is null
        returning ${columns}`;
      const [row] = await query<TokenRow>(text, [userId, id]);
      return row === undefined ? undefined : patOf(row);
    },
  };
};

/** Erases every encrypted secret: their tokens are kept as hashes alone from then on. @returns how many there were */
export const eraseSealedSecrets = (database: Database): Promise<number> =>
  database.transaction(async ({ query }) => {
    const erased = await query('update api_token set sealed = null where sealed is not null returning id');
    return erased.length;
  });
