import type { AccessEvent } from './access-event.ts';

/** The settings that administrators change at run time. */
export type SettingName = 'oidc' | 'simple' | 'scim';

/** The event of a setting. @param before its values; undefined while it was never stored */
export const settingEvent = (id: SettingName, data: object, before: object | undefined): AccessEvent => ({
  type: before === undefined ? 'setting-created' : 'setting-updated',
  data: { id, ...data },
  preData: before === undefined ? null : { id, ...before },
});
