import type { FastifyReply, FastifyRequest } from 'fastify';
import { timingSafeEqual } from 'node:crypto';
import { clientNetwork } from '../admission/client-network.ts';
import type { ConcurrentRequestLimits } from '../admission/concurrent-requests.ts';
import { rateLimiter } from '../admission/rate-limit.ts';
import type { GatewayConfig } from '../config.ts';
import type { SecretHasher } from '../persistence/secrets/secret-hasher.ts';
import { ScimError } from './scim-error.ts';
import type { ScimSettingCache } from './scim-setting-cache.ts';

export interface ScimAuthenticatorOptions {
  readonly config: Pick<GatewayConfig, 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'>;
  readonly readSetting: ScimSettingCache['read'];
  readonly hasher: SecretHasher;
  readonly limits: Pick<ConcurrentRequestLimits, 'assignClient'>;
}

/**
 * Checks the token of the identity provider, and limits failures by network address.
 * @returns a check that throws `ScimError` 401, 429, or 403 while SCIM is turned off
 */
export const scimAuthenticator = ({ config, readSetting, hasher, limits }: ScimAuthenticatorOptions) => {
  const failures = rateLimiter(config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE);
  return async (request: FastifyRequest, reply: FastifyReply): Promise<void> => {
    const [, token] = /^bearer +(\S{1,512})$/i.exec(request.headers.authorization?.trim() ?? '') ?? [];
    const stored = token === undefined ? undefined : await readSetting();
    const isValid = token !== undefined && stored?.secret != null && timingSafeEqual(hasher(token).hash, stored.secret);
    const address = clientNetwork(request.ip);
    if (!isValid) {
      const { waitSeconds } = failures.consume(address);
      if (waitSeconds > 0) {
        reply.header('retry-after', String(waitSeconds));
        throw new ScimError(
          429,
          `There were too many requests without a valid token from your address. Try again in ${waitSeconds} s.`,
        );
      }
      reply.header('www-authenticate', 'Bearer');
      throw new ScimError(
        401,
        'The request has no valid token of SCIM. Send the one that the settings of SCIM generated as a Bearer token.',
      );
    }
    if (stored?.value.enabled !== true)
      throw new ScimError(403, 'SCIM is turned off. An administrator can turn it on in its settings.');
    limits.assignClient(request, { id: 'scim', address });
  };
};
