import type { SignInForm } from '@bunting/contracts';
import type { SignInSettings } from './sign-in-settings.ts';

/** Milliseconds for which the form is cached: a flood of requests without a session must not become one of statements. */
const cacheMs = 2_000;

/** The ways to sign in, for the 401 of the Admin API. While the database is unavailable, the last result. */
export const signInMethods = ({
  arePasswordsDisabled,
  oidc,
}: Pick<SignInSettings, 'arePasswordsDisabled' | 'oidc'>) => {
  let form: SignInForm = { path: '/auth/simple/login', type: 'password', defaultHidden: false, options: [] };
  let expiresAt = 0;
  const read = async (): Promise<void> => {
    const [isOidcOn, defaultHidden] = [(await oidc()).enabled, await arePasswordsDisabled()];
    const option = { type: 'oidc', message: 'Sign in with OpenID Connect', path: '/auth/oidc/login' };
    form = { ...form, defaultHidden, options: isOidcOn ? [option] : [] };
  };
  let reading: Promise<void> = Promise.resolve();
  return async (): Promise<SignInForm> => {
    if (performance.now() >= expiresAt) {
      expiresAt = performance.now() + cacheMs;
      reading = read().catch(() => undefined);
    }
    await reading;
    return form;
  };
};
