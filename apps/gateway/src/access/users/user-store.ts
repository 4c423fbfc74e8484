import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import type {
  AdminCount,
  InactiveUsers,
  PageParameters,
  User,
  UsersAndGroups,
  UserSearchResults,
} from '@bunting/contracts';
import { gravatarUrlOf } from '@bunting/contracts/hashing';
import { advisoryLock, escapeLike, onlyRow, timestampSql, type Tx, violatedConstraint } from '@bunting/database';
import { LockMode, raw } from '@mikro-orm/postgresql';
import {
  gatewaySql,
  GroupMemberEntity,
  IdentityEntity,
  LinkEntity,
  PasswordEntity,
  ProjectUserEntity,
  SessionEntity,
  TokenEntity,
  UserEntity,
} from '../../unit-of-work/entities.ts';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';
import type { EventsOf } from '../events.ts';
import { endPasswordLinks } from '../passwords/one-time-link-store.ts';
import { endSlackAccounts } from '../slack-accounts/slack-account-store.ts';
import { userNotFound } from '../refusals.ts';
import { predefinedRole } from '../roles/role.ts';
import type { UnusedUserAttributes } from '../scim/scim-users.ts';
import type { SessionRepository } from '../sessions/session-store.ts';
import { AccountExistsRefusal, type UserNames } from './account.ts';

/** The image of a user, chosen as Unleash does: by e-mail address, else username, else id. */
export function avatarUrlOf({ id, username, email }: { readonly id: number } & Omit<UserNames, 'name'>): string {
  return gravatarUrlOf(email ?? username ?? String(id));
}

/** SQL: what `displayNameOf` returns for a row, but null without any name. @param alias the alias of its table, with a dot */
export function displayNameSql(alias = ''): string {
  return `coalesce(${alias}name, ${alias}username, ${alias}email)`;
}

/** A user or a service account as it is stored. */
export interface UserRow extends UserNames {
  readonly id: number;
  readonly rootRole: number;
  readonly isService: boolean;
  readonly isActive: boolean;
  readonly seenAt: string | null;
  readonly createdAt: string;
  readonly provisioned?: UnusedUserAttributes | null;
}

/** SQL: the columns of `UserRow`, of the table alias `u`. */
export const userColumnsSql = gatewaySql.selectOf(UserEntity, 'u');

/** SQL: whether the table alias `u` is an active user whose e-mail address or user name is `$1`; no service account. */
export const isUserNamedSql = `(lower(u.email) = lower($1) or lower(u.username) = lower($1))
  and u.deleted_at is null and u.is_active and not u.is_service`;
/**
 * SQL: the order of the users of `isUserNamedSql`, those by e-mail address first. A user name that equals the e-mail address of another user
 * does not shadow that user.
 */
export const emailsFirstSql = '(lower(u.email) = lower($1)) is true desc';

function presentNames({ name, username, email }: UserNames): Pick<User, 'name' | 'username' | 'email'> {
  return {
    ...(name === null ? {} : { name }),
    ...(username === null ? {} : { username }),
    ...(email === null ? {} : { email }),
  };
}

export function userOf(row: UserRow): User {
  return {
    id: row.id,
    isAPI: false,
    ...presentNames(row),
    imageUrl: avatarUrlOf(row),
    rootRole: row.rootRole,
    accountType: row.isService ? 'Service Account' : 'User',
    active: row.isActive,
    seenAt: row.seenAt,
    createdAt: row.createdAt,
    loginAttempts: 0,
    scimId: row.provisioned == null ? null : String(row.id),
  };
}

/** The properties of a new account besides its names. */
export interface NewAccount extends Pick<User, 'accountType' | 'rootRole'> {
  readonly isActive: boolean;
}

/** The properties of an account that can be updated. */
export interface UserUpdate {
  readonly name: string | null;
  /** stays as it is when left out */
  readonly username?: string | null;
  readonly email: string | null;
  readonly rootRole: number;
  readonly active: boolean;
}

export type AccountCollection = 'users' | 'service-accounts';
export interface AccountFilter {
  readonly only?: AccountCollection;
}

const uniqueConstraints = ['api_user_username_key', 'api_user_email_key'];

/** PostgreSQL interval without use after which a user counts as inactive. */
const inactiveAfter = '180 days';

const selectInactive = `
  select ${userColumnsSql}, ${timestampSql('key.seen_at')} as "patSeenAt"
  from api_user u left join lateral (select max(seen_at) as seen_at from api_token where user_id = u.id) key on true
  where u.deleted_at is null and not u.is_service and ($1::integer[] is null or u.id = any ($1::integer[]))
    and greatest(u.created_at, u.seen_at, key.seen_at) < now() - interval '${inactiveAfter}'
  order by u.id`;

const countAdminsSql = `
  select count(*) filter (where not is_service and has_password) as password,
    count(*) filter (where not is_service and not has_password) as "noPassword",
    count(*) filter (where is_service) as service
  from (select *, exists (select from user_password where user_id = u.id) as has_password from api_user u) as account
  where root_role_id = ${predefinedRole.admin} and deleted_at is null`;

function prefixPattern(text: string): string {
  return `${escapeLike(text.toLowerCase())}%`;
}

function userOfType(row: UserRow | null | undefined, only: AccountCollection | undefined): User | undefined {
  return !row || (only !== undefined && row.isService !== (only === 'service-accounts')) ? undefined : userOf(row);
}

/** @throws Refusal 404 when there is no user */
function requireFound(user: User | undefined): User {
  if (user === undefined) throw userNotFound();
  return user;
}

function searchResultOf(row: UserRow): UserSearchResults[number] {
  const { id, isAPI, imageUrl, accountType, scimId } = userOf(row);
  return { id, isAPI, ...presentNames(row), imageUrl, accountType, scimId };
}

/** Reads of users and service accounts without a lock: for responses, not for decisions. */
export function userReads({ query }: Pick<Tx, 'query'>) {
  const find = async (id: number, { only }: AccountFilter = {}): Promise<User | undefined> => {
    const text = `select ${userColumnsSql} from api_user u where id = $1 and deleted_at is null`;
    return userOfType((await query<UserRow>(text, [id]))[0], only);
  };
  return {
    find,
    /** @throws Refusal 404 when there is none */
    get: async (id: number, filter?: AccountFilter): Promise<User> => requireFound(await find(id, filter)),
    /** Users whose name, username or e-mail address starts with the prefix; at most 100. */
    search: async (prefix: string): Promise<UserSearchResults> => {
      const text = `
      select ${userColumnsSql} from api_user u
      where deleted_at is null and not is_service
        and (lower(name) like $1 or lower(username) like $1 or lower(email) like $1)
      order by lower(${displayNameSql()}), id limit 100`;
      return (await query<UserRow>(text, [prefixPattern(prefix)])).map(searchResultOf);
    },
    /** The users and service accounts with these ids, in their order; those that were deleted are left out. */
    namesOf: async (ids: readonly number[]): Promise<UserSearchResults> => {
      const text = `select ${userColumnsSql} from api_user u where deleted_at is null and id = any ($1::int[]) order by id`;
      return (await query<UserRow>(text, [ids])).map(searchResultOf);
    },
    /** Inactive users: created, and last seen, longer ago than `inactiveAfter`; only those among the ids, if ids are given. */
    listInactive: async (ids?: readonly number[]): Promise<InactiveUsers['inactiveUsers']> => {
      const rows = await query<UserRow & { readonly patSeenAt: string | null }>(selectInactive, [ids ?? null]);
      return rows.map((row) => {
        const { id, seenAt, createdAt, patSeenAt } = row;
        return { id, ...presentNames(row), seenAt, createdAt, patSeenAt };
      });
    },
    list: async (accounts: AccountCollection, { limit, offset = 0 }: PageParameters): Promise<User[]> => {
      const text = `
      select ${userColumnsSql} from api_user u where deleted_at is null and is_service = $1
      order by id limit $2::int offset $3::int`;
      return (await query<UserRow>(text, [accounts === 'service-accounts', limit ?? null, offset])).map(userOf);
    },
    /** The names of users and service accounts, by their ids. */
    listNames: async (): Promise<UsersAndGroups['users']> => {
      const text = `select ${userColumnsSql} from api_user u where deleted_at is null order by id`;
      return (await query<UserRow>(text)).map((row) => {
        const { id, accountType } = userOf(row);
        return { id, ...presentNames(row), accountType };
      });
    },
    /** Counts the accounts whose own root role is Admin; groups do not count. */
    countAdmins: async (): Promise<AdminCount> => {
      return onlyRow(await query<AdminCount>(countAdminsSql), 'count-admins');
    },
    /** Whether there is any user; service accounts do not count. For a decision, call `lockFirstUserCreation` first. */
    hasUsers: async (): Promise<boolean> =>
      (await query('select from api_user where deleted_at is null and not is_service limit 1')).length > 0,
  };
}

/** Users and service accounts, without deleted ones. */
export function userRepository(
  tx: Tx,
  {
    guard,
    sessions,
    record,
  }: {
    readonly guard: Pick<LastAdministratorGuard, 'markLossOfRights'>;
    readonly sessions: Pick<SessionRepository, 'endAll'>;
    readonly record: RecordEvents;
  },
) {
  const { query } = tx;
  /** Stores a new or changed row, and records the events of it. @throws AccountExistsRefusal */
  const flush = async (row: UserRow, eventsOf: EventsOf<User>): Promise<User> => {
    try {
      await tx.em.flush();
    } catch (error) {
      const constraint = violatedConstraint(error) ?? '';
      if (!uniqueConstraints.includes(constraint)) throw error;
      throw new AccountExistsRefusal(constraint.includes('email') ? 'email' : 'username');
    }
    const stored = userOf(row);
    record(eventsOf(stored));
    return stored;
  };

  const lockMode = LockMode.PESSIMISTIC_WRITE;
  const findForUpdate = async (id: number, { only }: AccountFilter = {}): Promise<User | undefined> =>
    userOfType(await tx.em.findOne(UserEntity, { id, deletedAt: null }, { lockMode }), only);

  return {
    ...userReads(tx),
    /** An account, locked until the transaction ends. */
    findForUpdate,
    /** An account, locked until the transaction ends. @throws Refusal 404 when there is none */
    getForUpdate: async (id: number, filter?: AccountFilter): Promise<User> =>
      requireFound(await findForUpdate(id, filter)),
    /** The account with the e-mail address in lower case, which can be a service account; locked until the transaction ends. */
    findByEmailForUpdate: async (email: string): Promise<User | undefined> =>
      userOfType(
        await tx.em.findOne(UserEntity, { [raw('lower(email)')]: email, deletedAt: null }, { lockMode }),
        undefined,
      ),
    /** Which of the ids belong to users or service accounts; locks them against deletion until the transaction ends. */
    findExisting: async (ids: readonly number[]): Promise<number[]> => {
      const text =
        'select id from api_user where id = any ($1::integer[]) and deleted_at is null order by id for share';
      return (await query<{ id: number }>(text, [ids])).map(({ id }) => id);
    },
    /** @throws AccountExistsRefusal */
    add: (
      { name, username, email }: UserNames,
      { accountType, rootRole, isActive }: NewAccount,
      eventsOf: EventsOf<User>,
    ): Promise<User> => {
      const isService = accountType === 'Service Account';
      const row = { name, username, email, rootRole, isService, isActive, seenAt: null };
      return flush(tx.em.create(UserEntity, row), eventsOf);
    },
    /**
     * Stores a changed account. A deactivation ends its sessions and its links to Slack; it and another e-mail address end its links to choose a password.
     * @throws AccountExistsRefusal
     */
    save: async (
      id: number,
      { name, username, email, rootRole, active }: UserUpdate,
      eventsOf: EventsOf<User>,
    ): Promise<User> => {
      const row = await tx.em.findOneOrFail(UserEntity, { id });
      const isDeactivated = row.isActive && !active;
      if (row.rootRole !== rootRole || isDeactivated) guard.markLossOfRights();
      if (isDeactivated) {
        await sessions.endAll(id);
        await endSlackAccounts(tx, id);
      }
      if (isDeactivated || row.email !== email) await endPasswordLinks(tx, id);
      return flush(
        tx.em.assign(row, {
          name,
          email,
          rootRole,
          isActive: active,
          ...(username === undefined ? {} : { username }),
        }),
        eventsOf,
      );
    },
    /**
     * The active user with an e-mail address or, if there is none, a user name; no service account. Locked until the transaction ends, so
     * that a link that it makes is for the names that the user has.
     */
    findByNameForUpdate: async (name: string): Promise<User | undefined> => {
      const text = `
        select ${userColumnsSql} from api_user u where ${isUserNamedSql} order by ${emailsFirstSql} limit 1 for update`;
      return userOfType((await query<UserRow>(text, [name]))[0], 'users');
    },
    /** Serialises the transactions that create the first user. */
    lockFirstUserCreation: async (): Promise<void> => {
      await advisoryLock({ query }, 'first administrator');
    },
    /** Deletes a user with tokens, sessions, passwords, links, Slack accounts, identities, memberships and rights; the names may be reused. */
    remove: async (id: number, events: readonly EventContent[]): Promise<void> => {
      guard.markLossOfRights();
      const { em } = tx;
      await em.nativeUpdate(TokenEntity, { user: id, revokedAt: null }, { revokedAt: raw('now()') });
      await em.nativeDelete(SessionEntity, { user: id });
      await em.nativeDelete(PasswordEntity, { user: id });
      await em.nativeDelete(IdentityEntity, { user: id });
      await em.nativeDelete(LinkEntity, { user: id });
      await endSlackAccounts(tx, id);
      await em.nativeDelete(GroupMemberEntity, { user: id });
      await em.nativeDelete(ProjectUserEntity, { assignee: id });
      await em.nativeUpdate(UserEntity, { id }, { deletedAt: raw('now()') });
      record(events);
    },
  };
}
