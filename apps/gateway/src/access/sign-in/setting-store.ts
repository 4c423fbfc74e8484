import type { EventContent } from '@bunting/contracts';
import type { RecordEvents } from '@bunting/outbox';
import { advisoryLock, type Tx } from '@bunting/database';
import type { SettingName, StoredSettings } from './setting.ts';
import type { LastAdministratorGuard } from '../../unit-of-work/last-administrator-guard.ts';

export interface StoredSetting<Name extends SettingName> {
  readonly value: StoredSettings[Name];
  /** the encrypted secret of the client at the OpenID provider, or the hash of the token of SCIM; null where there is none */
  readonly secret: Buffer | null;
}

const selectSetting = 'select value, secret from gateway_setting where name = $1';

export function settingReads({ query }: Pick<Tx, 'query'>) {
  return {
    /** A setting; undefined while it was never stored. */
    find: async <Name extends SettingName>(name: Name): Promise<StoredSetting<Name> | undefined> =>
      (await query<StoredSetting<Name>>(selectSetting, [name]))[0],
  };
}

export function settingRepository(
  { query }: Pick<Tx, 'query'>,
  guard: Pick<LastAdministratorGuard, 'markLossOfRights'>,
  record: RecordEvents,
) {
  return {
    ...settingReads({ query }),
    /** A setting, locked until the transaction ends, also while it was never stored. */
    findForUpdate: async <Name extends SettingName>(name: Name): Promise<StoredSetting<Name> | undefined> => {
      await advisoryLock({ query }, `setting ${name}`);
      return (await query<StoredSetting<Name>>(selectSetting, [name]))[0];
    },
    save: async <Name extends SettingName>(
      name: Name,
      value: StoredSettings[Name],
      secret: Buffer | null,
      events: readonly EventContent[],
    ): Promise<void> => {
      // Turning passwords off takes the means to sign in from administrators who have nothing else.
      if (name === 'simple' && 'disabled' in value && value.disabled === true) guard.markLossOfRights();
      await query(
        `insert into gateway_setting (name, value, secret) values ($1, $2, $3)
       on conflict (name) do update set value = excluded.value, secret = excluded.secret`,
        [name, JSON.stringify(value), secret],
      );
      record(events);
    },
  };
}
