import type { EventContent } from '@bunting/contracts';
import { isEqual, type PasswordSettings } from '@bunting/contracts';
import type { OidcSettingsWithoutSecret, OidcSettingsWithSecret } from '../oidc/oidc-settings.ts';

/** The event of a setting. @param before its values; undefined while it was never stored */
export function settingEvent<Name extends SettingName>(
  id: Name,
  data: StoredSettings[Name] & { readonly hasNewSecret?: boolean; readonly hasNewToken?: boolean },
  before: StoredSettings[Name] | undefined,
): EventContent {
  return {
    type: before === undefined ? 'setting-created' : 'setting-updated',
    data: { ...data, id },
    preData: before === undefined ? null : { ...before, id },
  };
}

/** The events of turning passwords on or off; none if nothing changes. @param before undefined while the setting was never stored */
export function passwordSettingEvents(
  before: PasswordSettings | undefined,
  { disabled }: PasswordSettings,
): readonly EventContent[] {
  return (before?.disabled ?? false) === disabled ? [] : [settingEvent('simple', { disabled }, before)];
}

/** The events of settings of OpenID Connect, without the secret; none if nothing changes. @param wasStored whether they were stored before */
export function oidcSettingEvents(
  { secret: secretBefore, ...before }: OidcSettingsWithSecret,
  { secret, ...values }: OidcSettingsWithSecret,
  { wasStored }: { readonly wasStored: boolean },
): readonly EventContent[] {
  const hasNewSecret = secret !== secretBefore;
  if (wasStored && !hasNewSecret && isEqual(before, values)) return [];
  return [settingEvent('oidc', { ...values, hasNewSecret }, wasStored ? before : undefined)];
}

/** The settings that administrators change at run time. */
export interface StoredSettings {
  /** lacks properties that are newer than the version of Bunting that stored it */
  readonly oidc: Partial<OidcSettingsWithoutSecret>;
  readonly simple: PasswordSettings;
  readonly scim: { readonly enabled: boolean };
}

export type SettingName = keyof StoredSettings;
