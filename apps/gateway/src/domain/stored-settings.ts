import type { PasswordSettings } from '@bunting/contracts';
import type { OidcSettingsWithoutSecret } from '../access/oidc/oidc-settings.ts';

/** The settings that administrators change at run time. */
export interface StoredSettings {
  /** lacks properties that are newer than the version of Bunting that stored it */
  readonly oidc: Partial<OidcSettingsWithoutSecret>;
  readonly simple: PasswordSettings;
  readonly scim: { readonly enabled: boolean };
}

export type SettingName = keyof StoredSettings;
