import type { EventContent } from '@bunting/contracts';
import type { StoredSetting } from '../sign-in/setting-store.ts';
import { settingEvent, type StoredSettings } from '../sign-in/setting.ts';

/** SCIM is off until it is turned on. */
export function isScimEnabled(stored: StoredSettings['scim'] | undefined): boolean {
  return stored?.enabled ?? false;
}

/** The settings of SCIM as they are stored. */
export interface StoredScim {
  readonly enabled: boolean;
  readonly hasToken: boolean;
}

/**
 * Turns SCIM on or off. @returns the event, unless nothing changes, and whether a token has to be created, which the first turning on needs
 * @param before undefined while the setting was never stored
 */
export function switchScim(
  before: StoredScim | undefined,
  enabled: boolean,
): { readonly needsToken: boolean; readonly events: readonly EventContent[] } {
  const wasEnabled = isScimEnabled(before);
  const needsToken = enabled && before?.hasToken !== true;
  if (wasEnabled === enabled && !needsToken) return { needsToken, events: [] };
  return { needsToken, events: [settingEvent('scim', { enabled }, before && { enabled: wasEnabled })] };
}

/** The event of a new token of SCIM. Whether SCIM is on does not change. */
export function scimTokenCreated(before: StoredSettings['scim'] | undefined): EventContent {
  return settingEvent('scim', { enabled: isScimEnabled(before), hasNewToken: true }, before);
}

/**
 * The setting of SCIM with the hash of its token, in memory, so that requests with wrong tokens do not use connections of the pool.
 * @param readStored reads the setting; undefined while it was never stored
 * @param ttlMs for how long a read setting is used
 */
export function scimSettingCache(readStored: () => Promise<StoredSetting<'scim'> | undefined>, ttlMs: number) {
  let cached: { readonly setting: ReturnType<typeof readStored>; readonly expiresAt: number } | undefined;
  return {
    /** The setting of SCIM; undefined while SCIM was never turned on. */
    read: (): ReturnType<typeof readStored> => {
      if (cached !== undefined && cached.expiresAt > performance.now()) return cached.setting;
      const entry = { setting: readStored(), expiresAt: performance.now() + ttlMs };
      cached = entry;
      entry.setting.catch(() => {
        if (cached === entry) cached = undefined;
      });
      return entry.setting;
    },
    /** Drops the cached setting; called when it may have changed. */
    invalidate: (): void => void (cached = undefined),
  };
}
export type ScimSettingCache = ReturnType<typeof scimSettingCache>;
