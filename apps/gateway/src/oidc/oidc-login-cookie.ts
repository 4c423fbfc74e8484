import type { GatewayConfig } from '../config.ts';
import { cipherWithKey } from '../persistence/secrets/secret-cipher.ts';
import type { SecretHasher } from '../persistence/secrets/secret-hasher.ts';
import type { LoginChecks } from '../access/oidc/openid-provider.ts';

/** The state of a sign-in between its start and its end, in an encrypted cookie. */
export interface PendingLogin extends LoginChecks {
  /** the path to redirect to after the sign-in */
  readonly redirect: string;
  /** milliseconds since 1970 */
  readonly expiresAt: number;
}

const lifetimeSeconds = 600;
/** Maximum pending sign-ins of one browser; a further one replaces all of them. */
const maxPending = 4;
const statePattern = /^[\w-]{43}$/;

/** The cookies of sign-ins that have begun: one for each, so that two of them in one browser do not disturb each other. */
export const oidcLoginCookie = (
  hasher: SecretHasher,
  { GATEWAY_BEHIND_TLS: behindTls }: Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS'>,
) => {
  const cipher = cipherWithKey(hasher('key of the cookies of sign-ins').hash);
  const prefix = `${behindTls ? '__Host-' : ''}bunting-login-`;
  const attributes = `Path=/; HttpOnly; SameSite=Lax${behindTls ? '; Secure' : ''}`;
  const nameOf = (state: string): string => `${prefix}${state.slice(0, 16)}`;
  const clearingCookie = (name: string): string => `${name}=; Max-Age=0; ${attributes}`;

  const cookiesIn = (header: string | undefined): [name: string, value: string][] =>
    (header ?? '').split(';').flatMap((pair): [string, string][] => {
      const equalsIndex = pair.indexOf('=');
      const name = pair.slice(0, Math.max(equalsIndex, 0)).trim();
      return name.startsWith(prefix) ? [[name, pair.slice(equalsIndex + 1).trim()]] : [];
    });

  return {
    /** The values of `Set-Cookie` that begin a sign-in. */
    begin: (checks: LoginChecks, redirect: string, header: string | undefined): string[] => {
      const pending: PendingLogin = { ...checks, redirect, expiresAt: Date.now() + lifetimeSeconds * 1_000 };
      const value = cipher.seal(JSON.stringify(pending), nameOf(checks.state)).toString('base64url');
      const pendingNames = cookiesIn(header).map(([name]) => name);
      return [
        ...(pendingNames.length < maxPending ? [] : pendingNames.map(clearingCookie)),
        `${nameOf(checks.state)}=${value}; Max-Age=${lifetimeSeconds}; ${attributes}`,
      ];
    },
    /** The pending sign-in with the state of the provider's response; undefined where this browser has none, or it has expired. */
    read: (state: string | null, header: string | undefined): PendingLogin | undefined => {
      if (state === null || !statePattern.test(state)) return undefined;
      const value = cookiesIn(header).find(([name]) => name === nameOf(state))?.[1];
      const text = value === undefined ? undefined : cipher.open(Buffer.from(value, 'base64url'), nameOf(state));
      if (text === undefined) return undefined;
      const pending = JSON.parse(text) as PendingLogin;
      return pending.state === state && pending.expiresAt > Date.now() ? pending : undefined;
    },
    /** The value of `Set-Cookie` that ends a sign-in. */
    end: ({ state }: PendingLogin): string => clearingCookie(nameOf(state)),
  };
};
export type OidcLoginCookie = ReturnType<typeof oidcLoginCookie>;
