import { Refusal, type SignInOptions } from '@bunting/contracts';
import type { EffectiveSignInSettings } from '../access/sign-in/sign-in-settings.ts';

/** Milliseconds for which the form is cached, so that many requests without a session do not cause as many statements in the database. */
const cacheMs = 2_000;

/**
 * Returns a function that returns the ways to sign in, for the 401 of the Admin API; while the database is unavailable, the last ones it
 * read.
 */
export const signInMethods = ({
  arePasswordsDisabled,
  oidc,
}: Pick<EffectiveSignInSettings, 'arePasswordsDisabled' | 'oidc'>) => {
  let form: SignInOptions = { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] };
  let expiresAt = 0;
  const refresh = async (): Promise<void> => {
    const [isOidcOn, defaultHidden] = [(await oidc()).enabled, await arePasswordsDisabled()];
    const option = { type: 'oidc', message: 'Sign in with OpenID Connect', path: '/auth/oidc/login' };
    form = { ...form, defaultHidden, options: isOidcOn ? [option] : [] };
  };
  let refreshing: Promise<void> = Promise.resolve();
  return async (): Promise<SignInOptions> => {
    if (performance.now() >= expiresAt) {
      expiresAt = performance.now() + cacheMs;
      refreshing = refresh().catch((error: unknown) => {
        if (!(error instanceof Refusal)) throw error;
      });
    }
    await refreshing;
    return form;
  };
};
