import type { preHandlerAsyncHookHandler } from 'fastify';
import type { GatewayConfig } from '../config.ts';
import { clientNetwork } from './client-network.ts';
import { rateLimiter, requireWithinRateLimit } from './rate-limit.ts';

/** Limits the requests of one address, or of one IPv6 network, for a page that needs no token, by `GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE`. */
export const anonymousRateLimit = ({
  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'>): preHandlerAsyncHookHandler => {
  const budgets = rateLimiter(perMinute);
  return async ({ ip }) =>
    requireWithinRateLimit(
      budgets.consume(clientNetwork(ip)),
      'There were too many requests for this page from your address.',
    );
};
