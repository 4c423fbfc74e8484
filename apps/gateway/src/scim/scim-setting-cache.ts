import type { StoredSetting } from '../access/sign-in/setting-store.ts';

/**
 * The setting of SCIM with the hash of its token, in memory, so that requests with wrong tokens do not use connections of the pool.
 * @param readStored reads the setting; undefined while it was never stored
 * @param ttlMs for how long a read setting is used
 */
export const scimSettingCache = (readStored: () => Promise<StoredSetting<'scim'> | undefined>, ttlMs: number) => {
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
};
export type ScimSettingCache = ReturnType<typeof scimSettingCache>;
