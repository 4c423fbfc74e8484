import type { GatewayConfig } from '../config.ts';

type Settings = Pick<GatewayConfig, 'GATEWAY_BEHIND_TLS' | 'GATEWAY_SESSION_MAX_HOURS'>;

const secretPattern = /^[\w-]{43}$/;

/**
 * The cookie of a session. Behind TLS it is `Secure` with the prefix `__Host-`, so that neither a page without TLS nor one of another
 * subdomain can set it. With `SameSite=Lax` requests of other sites do not carry it, except for navigation.
 */
export const sessionCookie = ({ GATEWAY_BEHIND_TLS: behindTls, GATEWAY_SESSION_MAX_HOURS: maxHours }: Settings) => {
  const name = behindTls ? '__Host-bunting-session' : 'bunting-session';
  const attributes = `Path=/; HttpOnly; SameSite=Lax${behindTls ? '; Secure' : ''}`;
  return {
    /** The value of `Set-Cookie` that signs a browser in. */
    set: (secret: string): string => `${name}=${secret}; Max-Age=${maxHours * 3_600}; ${attributes}`,
    /** The value of `Set-Cookie` that removes the cookie from a browser. */
    clear: `${name}=; Max-Age=0; ${attributes}`,
    /** The secret in a `Cookie` header; undefined without one of the form that secrets of sessions have. */
    read: (header: string | undefined): string | undefined => {
      for (const pair of header?.split(';') ?? []) {
        const equalsIndex = pair.indexOf('=');
        if (equalsIndex < 0 || pair.slice(0, equalsIndex).trim() !== name) continue;
        const value = pair.slice(equalsIndex + 1).trim();
        if (secretPattern.test(value)) return value;
      }
      return undefined;
    },
  };
};
export type SessionCookie = ReturnType<typeof sessionCookie>;
