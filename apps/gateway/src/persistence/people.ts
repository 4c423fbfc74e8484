import type { AdminCount, FoundUsers, InactiveUsers, Page, User, UsersAndGroups } from '@bunting/contracts';
import { brokenConstraint, type Tx } from '@bunting/database';
import { predefinedRole } from '../domain/access.ts';
import type { Names } from '../domain/user.ts';
import { wrong } from '../domain/refusals.ts';
import { pictureOf } from './access-reader.ts';

/** A user or a service account as the tables hold it. */
export interface PersonRow extends Names {
  readonly id: number;
  readonly root_role_id: number;
  readonly is_service: boolean;
  readonly is_active: boolean;
  readonly seen_at: string | null;
  readonly created_at: string;
}

/** SQL: what a user is made from, of the row `u`. */
export const personColumns =
  'u.id, u.name, u.username, u.email, u.root_role_id, u.is_service, u.is_active, u.seen_at, u.created_at';

/** A moment as the API writes it. */
export const momentOf = (moment: string): string => new Date(moment).toISOString();
export const momentOrNull = (moment: string | null): string | null => (moment === null ? null : momentOf(moment));

const named = ({ name, username, email }: Names): Pick<User, 'name' | 'username' | 'email'> => ({
  ...(name === null ? {} : { name }),
  ...(username === null ? {} : { username }),
  ...(email === null ? {} : { email }),
});

export const userOf = (row: PersonRow): User => ({
  id: row.id,
  isAPI: false,
  ...named(row),
  imageUrl: pictureOf(row),
  rootRole: row.root_role_id,
  accountType: row.is_service ? 'Service Account' : 'User',
  active: row.is_active,
  seenAt: momentOrNull(row.seen_at),
  createdAt: momentOf(row.created_at),
  loginAttempts: 0,
  scimId: null,
});

/** What can be changed of somebody. */
export interface PersonSettings {
  readonly name: string | null;
  readonly email: string | null;
  readonly rootRole: number;
  readonly active: boolean;
}

/** Users and service accounts. Whoever was deleted is found nowhere any more. */
export interface People {
  list(which: 'users' | 'service-accounts', page: Page): Promise<User[]>;
  /** Somebody as they are now: to be shown, not to decide by. */
  read(id: number, which?: 'users' | 'service-accounts'): Promise<User | undefined>;
  /** Somebody, who stays as they are until the end of this work. */
  find(id: number, which?: 'users' | 'service-accounts'): Promise<User | undefined>;
  /** Users, by how their name, username or e-mail begins. */
  search(beginning: string): Promise<FoundUsers>;
  /** The names of users and service accounts, by their ids. */
  names(): Promise<UsersAndGroups['users']>;
  /** How many accounts have the root role Admin themselves. */
  countAdmins(): Promise<AdminCount>;
  /** The users who were created, and last used a key, too long ago; those of the ids, if any are given. */
  inactive(ids?: readonly number[]): Promise<InactiveUsers['inactiveUsers']>;
  /** Those of the ids that are somebody's. */
  existing(ids: readonly number[]): Promise<number[]>;
  add(names: Names, rootRole: number, isService: boolean): Promise<User>;
  save(id: number, settings: PersonSettings): Promise<User>;
  /** Deletes somebody for good: keys, memberships and rights go, and the name is free again. */
  remove(id: number): Promise<void>;
}

const taken = ['api_user_username_key', 'api_user_email_key'];

const insert = `
  insert into api_user as u (name, username, email, root_role_id, is_service) values ($1, $2, $3, $4, $5)
  returning ${personColumns}`;

const update = `
  update api_user u set name = $2, email = $3, root_role_id = $4, is_active = $5 where id = $1 returning ${personColumns}`;

const remove = `
  with tokens as (update api_token set revoked_at = now() where user_id = $1 and revoked_at is null),
  groups as (delete from group_member where user_id = $1),
  projects as (delete from project_user where user_id = $1)
  update api_user set deleted_at = now() where id = $1`;

/** How long users may be away before they count as inactive. */
const inactiveAfter = '180 days';

const inactive = `
  select ${personColumns}, key.seen_at as pat_seen_at
  from api_user u left join lateral (select max(seen_at) as seen_at from api_token where user_id = u.id) key on true
  where u.deleted_at is null and not u.is_service and ($1::integer[] is null or u.id = any ($1::integer[]))
    and greatest(u.created_at, u.seen_at, key.seen_at) < now() - interval '${inactiveAfter}'
  order by u.id`;

const countAdmins = `
  select count(*) filter (where not is_service) as users, count(*) filter (where is_service) as service
  from api_user where root_role_id = ${predefinedRole.admin} and deleted_at is null`;

const begins = (text: string): string => `${text.toLowerCase().replace(/[\\%_]/g, String.raw`\$&`)}%`;

export const people = ({ query }: Pick<Tx, 'query'>): People => {
  const one = async (text: string, values: readonly unknown[]): Promise<User> => {
    try {
      const [row] = await query<PersonRow>(text, values);
      if (row === undefined) throw new Error('A user was not stored.');
      return userOf(row);
    } catch (error) {
      const constraint = brokenConstraint(error) ?? '';
      if (!taken.includes(constraint)) throw error;
      throw wrong('User already exists', constraint.includes('email') ? '/body/email' : '/body/username');
    }
  };

  const byId = async (
    locking: '' | 'for update',
    id: number,
    which: 'users' | 'service-accounts' | undefined,
  ): Promise<User | undefined> => {
    const text = `select ${personColumns} from api_user u where id = $1 and deleted_at is null ${locking}`;
    const [row] = await query<PersonRow>(text, [id]);
    if (row === undefined) return undefined;
    return which !== undefined && row.is_service !== (which === 'service-accounts') ? undefined : userOf(row);
  };

  return {
    list: async (which, { limit = null, offset = 0 }) => {
      const text = `
        select ${personColumns} from api_user u where deleted_at is null and is_service = $1
        order by id limit $2::int offset $3::int`;
      return (await query<PersonRow>(text, [which === 'service-accounts', limit, offset])).map(userOf);
    },
    read: (id, which) => byId('', id, which),
    find: (id, which) => byId('for update', id, which),
    search: async (beginning) => {
      const text = `
        select ${personColumns} from api_user u
        where deleted_at is null and not is_service
          and (lower(name) like $1 or lower(username) like $1 or lower(email) like $1)
        order by lower(coalesce(name, username, email)), id limit 100`;
      const rows = await query<PersonRow>(text, [begins(beginning)]);
      return rows.map((row) => {
        const { id, isAPI, imageUrl, accountType, scimId } = userOf(row);
        return { id, isAPI, ...named(row), imageUrl, accountType, scimId };
      });
    },
    names: async () => {
      const text = `select ${personColumns} from api_user u where deleted_at is null order by id`;
      return (await query<PersonRow>(text)).map((row) => {
        const { id, accountType } = userOf(row);
        return { id, ...named(row), accountType };
      });
    },
    countAdmins: async () => {
      const [row] = await query<{ users: number; service: number }>(countAdmins);
      return { password: 0, noPassword: row?.users ?? 0, service: row?.service ?? 0 };
    },
    inactive: async (ids) => {
      const rows = await query<PersonRow & { readonly pat_seen_at: string | null }>(inactive, [ids ?? null]);
      return rows.map((row) => ({
        id: row.id,
        ...named(row),
        seenAt: momentOrNull(row.seen_at),
        createdAt: momentOf(row.created_at),
        patSeenAt: momentOrNull(row.pat_seen_at),
      }));
    },
    existing: async (ids) => {
      const text =
        'select id from api_user where id = any ($1::integer[]) and deleted_at is null order by id for share';
      return (await query<{ id: number }>(text, [ids])).map(({ id }) => id);
    },
    add: ({ name, username, email }, rootRole, isService) => one(insert, [name, username, email, rootRole, isService]),
    save: (id, { name, email, rootRole, active }) => one(update, [id, name, email, rootRole, active]),
    remove: async (id) => void (await query(remove, [id])),
  };
};
