import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { timingSafeEqual } from 'node:crypto';
import { adminTokenUserId, type ApiToken, type Caller, type Pat } from '@bunting/contracts';
import {
  advisoryLock,
  batchedRead,
  type Database,
  prepared,
  type Statement,
  timestampSql,
  type Tx,
} from '@bunting/database';
import { LockMode, raw } from '@mikro-orm/postgresql';
import type { Principal } from '@bunting/http';
import { gatewaySql, TokenEntity } from '../../unit-of-work/entities.ts';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';
import type { HashedSecret, NewSecret, SecretCipher, SecretHasher } from '../../unit-of-work/secrets.ts';
import type { EventsOf } from '../events.ts';
import { patNotFound } from '../refusals.ts';
import { callerOf, type UserRightsRow, userRightsSql } from '../rights/rights-store.ts';
import {
  type ApiTokenInEvents,
  type ApiTokenKind,
  grantsOfToken,
  mayCallAdminApi,
  type NewToken,
  type TokenKind,
  wildcard,
} from './token.ts';

/** A token as it is stored, without its hash. */
export interface TokenRow {
  readonly id: string;
  readonly number: number;
  readonly kind: TokenKind;
  readonly name: string;
  readonly shown: string;
  readonly selector: string;
  readonly sealed: Buffer | null;
  readonly user: number | null;
  readonly projects: string[];
  readonly environment: string;
  readonly createdAt: string;
  readonly expiresAt: string | null;
  readonly seenAt: string | null;
}

/** An API token that is not revoked, with its internal id. */
export interface StoredToken extends ApiToken {
  readonly id: string;
  /** the secret of the token; undefined when only its hash is stored */
  readonly plaintext: string | undefined;
}

export interface NewPat {
  readonly userId: number;
  readonly description: string;
  readonly expiresAt: Date | null;
}

const columns = gatewaySql.selectOf(TokenEntity, 'token');

export function apiTokenInEventsOf(row: TokenRow): ApiTokenInEvents {
  return {
    tokenName: row.name,
    type: row.kind as ApiTokenKind,
    environment: row.environment,
    project: row.projects[0] ?? wildcard,
    projects: row.projects,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
  };
}

function apiTokenOf(row: TokenRow, cipher: SecretCipher | undefined): StoredToken {
  return {
    ...apiTokenInEventsOf(row),
    id: row.id,
    plaintext: row.sealed === null ? undefined : cipher?.open(row.sealed, row.selector),
    secret: row.shown,
    username: row.name,
    alias: null,
    seenAt: row.seenAt,
  };
}

function patOf({ id, number, name, expiresAt, createdAt, seenAt, user }: TokenRow): Pat {
  if (user === null) throw new Error(`The token ${id} is no PAT: it has no user.`);
  return { id: number, description: name, expiresAt, createdAt, seenAt, userId: user };
}

const selectApiTokens = `
  select ${columns} from api_token token
  where kind = any ($1::text[]) and revoked_at is null and ($2::text is null or $2 = any (projects) or '${wildcard}' = any (projects))
  order by number`;

/** A token that ends soon. */
export interface EndingToken {
  readonly id: string;
  readonly isPersonal: boolean;
  readonly name: string;
  readonly projects: readonly string[];
  readonly userId: number;
  readonly livesMs: number;
  readonly lifetimeMs: number;
  readonly expiresAt: string;
}

const endingTokens = `
  select token.id, u.id is not null and not u.is_service as "isPersonal", token.name, token.projects,
    case when u.is_service or u.id is null then token.created_by else u.id end as "userId",
    (extract(epoch from expires_at - now()) * 1000)::float8 as "livesMs",
    (extract(epoch from expires_at - token.created_at) * 1000)::float8 as "lifetimeMs",
    ${timestampSql('expires_at')} as "expiresAt"
  from api_token token left join api_user u on u.id = token.user_id
  where revoked_at is null and expires_at > now() and expires_at <= now() + make_interval(days => $1)
    and case when u.is_service or u.id is null then token.created_by > 0 else true end
  order by expires_at, token.id limit 10000`;

/** Reads of API tokens and PATs without a lock: for responses, not for decisions. */
export function tokenReads({ query }: Pick<Tx, 'query'>, cipher: SecretCipher | undefined) {
  const listPats = async (userIds: readonly number[]): Promise<Pat[]> => {
    const text = `
      select ${columns} from api_token token where user_id = any ($1::integer[]) and revoked_at is null order by number`;
    return (await query<TokenRow>(text, [userIds])).map(patOf);
  };
  return {
    /** API tokens of these kinds; only those for the project, if one is named. */
    list: async (kinds: readonly ApiTokenKind[], project?: string): Promise<StoredToken[]> =>
      (await query<TokenRow>(selectApiTokens, [kinds, project ?? null])).map((row) => apiTokenOf(row, cipher)),
    /** The tokens that end within these days, with the person who has or created each. */
    listNearTheirEnd: (days: number): Promise<EndingToken[]> => query<EndingToken>(endingTokens, [days]),
    listPats: async (userId: number): Promise<Pat[]> => listPats([userId]),
    listPatsOf: async (userIds: readonly number[]): Promise<ReadonlyMap<number, Pat[]>> =>
      Map.groupBy(await listPats(userIds), ({ userId }) => userId),
  };
}

export function tokenRepository(
  tx: Tx,
  guard: Pick<LastAdministratorGuard, 'markLossOfRights'>,
  hasher: SecretHasher,
  cipher: SecretCipher | undefined,
  record: RecordEvents,
) {
  const { query } = tx;
  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const tokenOf = (row: TokenRow): StoredToken => apiTokenOf(row, cipher);
  const create = async (
    { secret, masked }: NewSecret,
    token: Pick<TokenRow, 'kind' | 'name' | 'sealed' | 'user' | 'projects' | 'environment' | 'expiresAt'>,
    createdBy: number,
  ): Promise<TokenRow> => {
    const created = tx.em.create(TokenEntity, { ...token, ...hasher(secret), shown: masked, createdBy, seenAt: null });
    await tx.em.flush();
    return created;
  };
  return {
    ...tokenReads(tx, cipher),
    /** An API token by its secret or its masked secret; locked until the transaction ends. */
    findForUpdate: async (token: string, kinds: readonly ApiTokenKind[]): Promise<StoredToken | undefined> => {
      const bySecret = { $or: [{ shown: token }, hasher(token)] };
      const condition = { kind: { $in: [...kinds] }, revokedAt: null, ...bySecret };
      const row = await tx.em.findOne(TokenEntity, condition, { lockMode });
      return row === null ? undefined : tokenOf(row);
    },
    /** The number of API tokens. Serialises the transactions that call it, so that concurrent creations do not exceed the limit. */
    countForUpdate: async (): Promise<number> => {
      await advisoryLock({ query }, 'api tokens');
      return tx.em.count(TokenEntity, { kind: { $ne: 'user' }, revokedAt: null });
    },
    add: async (
      { kind, name, projects, environment, expiresAt }: NewToken,
      secret: NewSecret,
      createdBy: number,
      eventsOf: EventsOf<StoredToken>,
    ): Promise<StoredToken> => {
      const { selector } = hasher(secret.secret);
      const sealed = kind === 'admin' ? null : (cipher?.seal(secret.secret, selector) ?? null);
      const expires = expiresAt?.toISOString() ?? null;
      const scope = { projects: [...projects], environment };
      const token = { kind, name, sealed, user: null, ...scope, expiresAt: expires };
      const stored = tokenOf(await create(secret, token, createdBy));
      record(eventsOf(stored));
      return stored;
    },
    setExpiry: async ({ id, type }: StoredToken, expiresAt: Date, eventsOf: EventsOf<StoredToken>): Promise<void> => {
      if (type === 'admin') guard.markLossOfRights();
      const token = await tx.em.findOneOrFail(TokenEntity, { id });
      tx.em.assign(token, { expiresAt: expiresAt.toISOString() });
      await tx.em.flush();
      record(eventsOf(tokenOf(token)));
    },
    /** When a token of any kind expires; null for never, and for a caller without a token. */
    expiryOf: async (id: string | undefined): Promise<Date | null> => {
      const token = id === undefined ? null : await tx.em.findOne(TokenEntity, { id });
      return token?.expiresAt ? new Date(token.expiresAt) : null;
    },
    revoke: async ({ id, type }: StoredToken, events: readonly EventContent[]): Promise<void> => {
      if (type === 'admin') guard.markLossOfRights();
      await tx.em.nativeUpdate(TokenEntity, { id }, { revokedAt: raw('now()') });
      record(events);
    },
    addPat: async (
      { userId, description, expiresAt }: NewPat,
      secret: NewSecret,
      createdBy: number,
      eventsOf: EventsOf<Pat>,
    ): Promise<Pat> => {
      const properties = { kind: 'user', name: description, sealed: null, user: userId } as const;
      const expires = expiresAt?.toISOString() ?? null;
      const token = { ...properties, projects: [wildcard], environment: wildcard, expiresAt: expires };
      const stored = patOf(await create(secret, token, createdBy));
      record(eventsOf(stored));
      return stored;
    },
    /** Revokes a PAT of a user. @throws Refusal 404 when the user has no such PAT */
    revokePat: async (user: number, number: number, eventsOf: EventsOf<Pat>): Promise<void> => {
      const token = await tx.em.findOne(TokenEntity, { user, number, revokedAt: null }, { lockMode });
      if (token === null) throw patNotFound();
      guard.markLossOfRights();
      await tx.em.nativeUpdate(TokenEntity, { id: token.id }, { revokedAt: raw('now()') });
      record(eventsOf(patOf(token)));
    },
  };
}

/** Erases all encrypted secrets; the hashes of their tokens stay. @returns the number of secrets erased */
export function eraseSealedSecrets(database: Database): Promise<number> {
  return database.transaction(({ em }) => em.nativeUpdate(TokenEntity, { sealed: { $ne: null } }, { sealed: null }));
}

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
function validTokenBy(column: 'selector' | 'id'): Statement {
  return prepared(`
    select nth::int, token.id, token.kind, token.name, token.hash, token.projects, token.deleted_projects, token.environment,
      (extract(epoch from token.expires_at - now()) * 1000)::float8 as lives_ms,
      u.id as user_id, u.name as user_name, u.username, u.email, u.is_service,
      case when u.id is not null then ${userRightsSql} end as access
    from unnest($1::${column === 'id' ? 'uuid' : 'text'}[]) with ordinality as requested (${column}, nth) join api_token token using (${column})
    left join api_user u on u.id = token.user_id
    where token.revoked_at is null and (token.expires_at is null or token.expires_at > now())
      and (u.id is null or u.is_active and u.deleted_at is null)`);
}

function callerOfToken(row: Row & (UserRightsRow | { readonly user_id: null })): Caller {
  if (row.kind !== 'user') {
    const grants = [...grantsOfToken({ ...row, kind: row.kind })];
    const { deleted_projects: deletedProjects } = row;
    const deleted = deletedProjects.length === 0 ? {} : { deletedProjects };
    return { id: adminTokenUserId, name: row.name, tokenId: row.id, grants, ...deleted };
  }
  if (row.user_id === null) throw new Error(`The token ${row.id} of the kind user has no user.`);
  return callerOf(row, row.id);
}

/** Looks tokens up in batches, on at most two connections, so that clients that guess tokens leave the rest of the pool free. */
export function tokenLookup(database: Database) {
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
}
export type TokenLookup = ReturnType<typeof tokenLookup>;

// Rows that another replica has locked are skipped: that replica stores a use that is about as recent.
const storeLastUsesSql = `
  with used as (select * from unnest($1::uuid[], $2::timestamptz[]) as used (id, seen_at)),
  due as (select t.id from api_token t join used using (id) order by t.id for update of t skip locked),
  tokens as (
    update api_token t set seen_at = greatest(t.seen_at, used.seen_at) from due join used using (id)
    where t.id = due.id returning t.user_id, t.seen_at
  ),
  open as (select s.id from user_session s join used using (id) order by s.id for update of s skip locked),
  sessions as (
    update user_session s set seen_at = greatest(s.seen_at, used.seen_at) from open join used using (id)
    where s.id = open.id returning s.user_id, s.seen_at
  ),
  users as (
    select u.id, max(uses.seen_at) as seen_at
    from api_user u join (select * from tokens union all select * from sessions) as uses on uses.user_id = u.id
    group by u.id
  ),
  free as (select u.id from api_user u join users using (id) order by u.id for update of u skip locked)
  update api_user u set seen_at = greatest(u.seen_at, users.seen_at) from users join free using (id) where u.id = users.id`;

/** Records in memory when tokens and sessions were last used, and stores the records in one statement when `store` is called. */
export function lastSeenRecorder(database: Database) {
  let records = new Map<string, number>();
  return {
    record: (tokenId: string) => void records.set(tokenId, Date.now()),
    /** Stores the records since the last call. After a failure the next call stores them, too. */
    store: async (): Promise<void> => {
      if (records.size === 0) return;
      const uses = records;
      records = new Map();
      const times = [...uses.values()].map((usedAt) => new Date(usedAt).toISOString());
      try {
        await database.transaction(({ query }) => query(storeLastUsesSql, [[...uses.keys()], times]));
      } catch (error) {
        records = new Map([...uses, ...records]);
        throw error;
      }
    },
  };
}
