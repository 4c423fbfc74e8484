import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import { publicUrl } from './public-url.ts';
import type { SignInSettings } from './effective-sign-in-settings.ts';

/**
 * The URL that a browser is redirected to after signing out: the provider's, which also ends the session there, where the settings turn
 * single sign-out on; `/` otherwise, and while the provider is unavailable.
 */
export const logoutDestination =
  (settings: Pick<SignInSettings, 'provider'>, config: GatewayConfig) =>
  async (request: FastifyRequest): Promise<string> => {
    const provider = await settings.provider();
    if (provider?.settings.enableSingleSignOut !== true) return '/';
    try {
      return (await provider.signOutUrl(`${publicUrl(request, config)}/`))?.href ?? '/';
    } catch {
      return '/';
    }
  };
