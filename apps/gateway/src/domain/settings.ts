import type { SimpleSettings } from '@bunting/contracts';
import type { AccessEvent } from './access-event.ts';

/** The settings that administrators change at run time. */
export type SettingName = 'oidc' | 'simple' | 'scim';

/** The event of a setting. @param before its values; undefined while it was never stored */
export const settingEvent = (id: SettingName, data: object, before: object | undefined): AccessEvent => ({
  type: before === undefined ? 'setting-created' : 'setting-updated',
  data: { id, ...data },
  preData: before === undefined ? null : { id, ...before },
});

/** The events of turning passwords on or off; none if nothing changes. @param before undefined while it was never stored */
export const passwordSettingEvents = (
  before: SimpleSettings | undefined,
  { disabled }: SimpleSettings,
): readonly AccessEvent[] =>
  (before?.disabled ?? false) === disabled ? [] : [settingEvent('simple', { disabled }, before)];

/** The settings of SCIM as they are stored. */
export interface StoredScim {
  readonly enabled: boolean;
  readonly hasToken: boolean;
}

/**
 * SCIM turned on or off, and the event unless nothing changes. It needs a token when it is turned on for the first time.
 * @param before undefined while it was never stored
 */
export const switchedScim = (
  before: StoredScim | undefined,
  enabled: boolean,
): { readonly needsToken: boolean; readonly events: readonly AccessEvent[] } => {
  const { enabled: wasEnabled, hasToken } = before ?? { enabled: false, hasToken: false };
  const needsToken = enabled && !hasToken;
  if (wasEnabled === enabled && !needsToken) return { needsToken, events: [] };
  return { needsToken, events: [settingEvent('scim', { enabled }, before && { enabled: wasEnabled })] };
};
