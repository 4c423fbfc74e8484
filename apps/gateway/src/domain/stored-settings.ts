import { isEqual, type PasswordSettings } from '@bunting/contracts';
import type { GatewayEvent } from './gateway-event.ts';
import type { OidcSettingsWithSecret, OidcSettingsWithoutSecret } from './oidc/oidc-settings.ts';

/** The settings that administrators change at run time. */
export interface StoredSettings {
  /** lacks properties that are newer than the version of Bunting that stored it */
  readonly oidc: Partial<OidcSettingsWithoutSecret>;
  readonly simple: PasswordSettings;
  readonly scim: { readonly enabled: boolean };
}
export type SettingName = keyof StoredSettings;

/** The event of a setting. @param before its values; undefined while it was never stored */
const settingEvent = <Name extends SettingName>(
  id: Name,
  data: StoredSettings[Name] & { readonly hasNewSecret?: boolean; readonly hasNewToken?: boolean },
  before: StoredSettings[Name] | undefined,
): GatewayEvent => ({
  type: before === undefined ? 'setting-created' : 'setting-updated',
  data: { ...data, id },
  preData: before === undefined ? null : { ...before, id },
});

/** The events of turning passwords on or off; none if nothing changes. @param before undefined while the setting was never stored */
export const passwordSettingEvents = (
  before: PasswordSettings | undefined,
  { disabled }: PasswordSettings,
): readonly GatewayEvent[] =>
  (before?.disabled ?? false) === disabled ? [] : [settingEvent('simple', { disabled }, before)];

/** SCIM is off until it is turned on. */
export const isScimEnabled = (stored: StoredSettings['scim'] | undefined): boolean => stored?.enabled ?? false;

/** The settings of SCIM as they are stored. */
export interface StoredScim {
  readonly enabled: boolean;
  readonly hasToken: boolean;
}

/**
 * Turns SCIM on or off. @returns the event, unless nothing changes, and whether a token has to be created, which the first turning on needs
 * @param before undefined while the setting was never stored
 */
export const switchScim = (
  before: StoredScim | undefined,
  enabled: boolean,
): { readonly needsToken: boolean; readonly events: readonly GatewayEvent[] } => {
  const wasEnabled = isScimEnabled(before);
  const needsToken = enabled && before?.hasToken !== true;
  if (wasEnabled === enabled && !needsToken) return { needsToken, events: [] };
  return { needsToken, events: [settingEvent('scim', { enabled }, before && { enabled: wasEnabled })] };
};

/** The event of a new token of SCIM. Whether SCIM is on does not change. */
export const scimTokenCreated = (before: StoredSettings['scim'] | undefined): GatewayEvent =>
  settingEvent('scim', { enabled: isScimEnabled(before), hasNewToken: true }, before);

/** The events of settings of OpenID Connect, without the secret; none if nothing changes. @param wasStored whether they were stored before */
export const oidcSettingEvents = (
  { secret: secretBefore, ...before }: OidcSettingsWithSecret,
  { secret, ...values }: OidcSettingsWithSecret,
  { wasStored }: { readonly wasStored: boolean },
): readonly GatewayEvent[] => {
  const hasNewSecret = secret !== secretBefore;
  if (wasStored && !hasNewSecret && isEqual(before, values)) return [];
  return [settingEvent('oidc', { ...values, hasNewSecret }, wasStored ? before : undefined)];
};
