import type { EffectiveSignInSettings } from '../access/sign-in/sign-in-settings.ts';
import { type OpenIdProvider, openIdProvider } from '../access/oidc/openid-provider.ts';

/** Returns the provider that users sign in through now; undefined while that is off. */
export type CurrentOpenIdProvider = () => Promise<OpenIdProvider | undefined>;

/** Keeps one provider, with its cached metadata, until the settings of OpenID Connect change. */
export const currentOpenIdProvider = (
  { oidc }: Pick<EffectiveSignInSettings, 'oidc'>,
  warn: (message: string) => void,
): CurrentOpenIdProvider => {
  let current: { readonly key: string; readonly provider: OpenIdProvider } | undefined;
  return async () => {
    const settings = await oidc();
    if (!settings.enabled) return undefined;
    const key = JSON.stringify(settings);
    if (current?.key !== key) current = { key, provider: openIdProvider(settings, warn) };
    return current.provider;
  };
};
