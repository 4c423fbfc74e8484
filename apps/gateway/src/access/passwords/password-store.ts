import type { Tx } from '@bunting/database';
import { endPasswordLinks } from './one-time-link-store.ts';
import type { SessionRepository } from '../sessions/session-store.ts';
import { emailsFirstSql, isUserNamedSql } from '../users/user-store.ts';

/** Maximum stored passwords of a user: the current one and those that may not be reused. */
const maxStoredPasswords = 5;

export interface PasswordAccount {
  readonly userId: number;
  readonly passwordId: number;
  readonly hash: string;
  /** whether the user has a session that was started from this address */
  readonly isKnownAddress: boolean;
}

const selectAccount = `
  select u.id as "userId", p.id as "passwordId", p.hash,
    exists (select from user_session s where s.user_id = u.id and s.address = $2) as "isKnownAddress"
  from api_user u cross join lateral (
    select id, hash from user_password where user_id = u.id order by id desc limit 1) as p
  where ${isUserNamedSql} order by ${emailsFirstSql} limit 1`;

const selectLatest = `select hash from user_password where user_id = $1 order by id desc limit ${maxStoredPasswords}`;

export function passwordReads({ query }: Pick<Tx, 'query'>) {
  return {
    /** The active user with a password whose e-mail address or user name this is; undefined when there is none. */
    findAccount: async (name: string, address: string): Promise<PasswordAccount | undefined> =>
      (await query<PasswordAccount>(selectAccount, [name, address]))[0],
    /** The hashes of the latest passwords of a user, the current one first. */
    list: async (userId: number): Promise<string[]> =>
      (await query<{ hash: string }>(selectLatest, [userId])).map(({ hash }) => hash),
  };
}

export function passwordRepository({ query }: Pick<Tx, 'query'>, sessions: Pick<SessionRepository, 'endAll'>) {
  return {
    ...passwordReads({ query }),
    /**
     * Sets the password of a user, which ends the user's sessions and links to choose one. Deletes earlier passwords beyond
     * `maxStoredPasswords`, which may be reused.
     */
    set: async (userId: number, hash: string): Promise<void> => {
      await endPasswordLinks({ query }, userId);
      await sessions.endAll(userId);
      await query('insert into user_password (user_id, hash) values ($1, $2)', [userId, hash]);
      await query(
        `delete from user_password where user_id = $1 and id not in (
         select id from user_password where user_id = $1 order by id desc limit ${maxStoredPasswords})`,
        [userId],
      );
    },
    /** Replaces the hash of a password by one of the same password with other parameters. */
    rehash: async (passwordId: number, hash: string): Promise<void> => {
      await query('update user_password set hash = $2 where id = $1', [passwordId, hash]);
    },
    /** Whether the password is still the current one of an active user; locks the user until the transaction ends. */
    isCurrent: async ({ userId, passwordId }: PasswordAccount): Promise<boolean> => {
      const text = `
      select (select max(id) from user_password where user_id = u.id) = $2 as current
      from api_user u where id = $1 and is_active and deleted_at is null for update`;
      return (await query<{ current: boolean }>(text, [userId, passwordId]))[0]?.current === true;
    },
  };
}
