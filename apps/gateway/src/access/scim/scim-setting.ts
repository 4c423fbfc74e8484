import type { GatewayEvent } from '../../domain/gateway-event.ts';
import { settingEvent } from '../sign-in/setting.ts';
import type { StoredSettings } from '../../domain/stored-settings.ts';

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
