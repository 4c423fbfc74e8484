import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import { publicUrl } from '../http/request/public-url.ts';
import type { CurrentOpenIdProvider } from './current-openid-provider.ts';

/**
 * The URL that a browser is redirected to after signing out: the provider's, which also ends the session there, where the settings turn
 * single sign-out on; `/` otherwise, and while the provider is unavailable.
 */
export const logoutDestination =
  (findProvider: CurrentOpenIdProvider, config: GatewayConfig) =>
  async (request: FastifyRequest): Promise<string> => {
    const provider = await findProvider();
    if (provider?.settings.enableSingleSignOut !== true) return '/';
    try {
      return (await provider.signOutUrl(`${publicUrl(request, config)}/`))?.href ?? '/';
    } catch {
      return '/';
    }
  };
