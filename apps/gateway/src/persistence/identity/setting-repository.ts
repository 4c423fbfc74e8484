import type { Database, Statement, Tx } from '@bunting/database';

/** The settings that administrators change at run time. */
export type SettingName = 'oidc' | 'simple' | 'scim';

export interface StoredSetting<T extends object> {
  readonly value: T;
  /** encrypted, or a hash; null where there is none */
  readonly secret: Buffer | null;
}

const stored: Statement = { name: 'setting', text: 'select value, secret from gateway_setting where name = $1' };

/** A setting without a lock; undefined while it was never stored. */
export const readSetting = async <T extends object>(
  { read }: Pick<Database, 'read'>,
  name: SettingName,
): Promise<StoredSetting<T> | undefined> => (await read<StoredSetting<T>>(stored, [name]))[0];

/** Reads of one statement, in a transaction or without one. */
export const settingReads = ({ query }: Pick<Tx, 'query'>) => ({
  /** A setting, without a lock; undefined while it was never stored. */
  find: async <T extends object>(name: SettingName): Promise<StoredSetting<T> | undefined> =>
    (await query<StoredSetting<T>>(stored.text, [name]))[0],
});

/** Settings within a transaction. */
export const settingRepository = ({ query }: Pick<Tx, 'query'>) => ({
  ...settingReads({ query }),
  /** A setting, locked until the transaction ends, also while it was never stored. */
  findForUpdate: async <T extends object>(name: SettingName): Promise<StoredSetting<T> | undefined> => {
    await query('select pg_advisory_xact_lock(hashtext($1))', [`setting ${name}`]);
    return (await query<StoredSetting<T>>(stored.text, [name]))[0];
  },
  save: async (name: SettingName, value: object, secret: Buffer | null): Promise<void> => {
    await query(
      `insert into gateway_setting (name, value, secret) values ($1, $2, $3)
       on conflict (name) do update set value = excluded.value, secret = excluded.secret`,
      [name, JSON.stringify(value), secret],
    );
  },
});
