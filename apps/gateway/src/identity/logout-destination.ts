import type { FastifyRequest } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import { publicUrl } from './public-url.ts';
import type { SignInSettings } from './sign-in-settings.ts';

/**
 * Where a browser goes after signing out: to the provider, which ends its session too where that is set; `/` otherwise, and while the
 * provider is down.
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
