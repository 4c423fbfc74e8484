import { Refusal, refusal } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { isIPv6 } from 'node:net';
import type { Authenticate } from '../authentication/authenticate.ts';
import type { GatewayConfig } from '../config.ts';
import type { Principal } from '../persistence/tokens/token-lookup.ts';
import { rateLimiter, type RateLimitStatus } from './rate-limit.ts';
import type { Client, RequestLimits } from './request-limits.ts';

/** Lets a request in by its key, as long as there is budget for it, and tells the client what is left. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Principal>;

export interface AdmissionOptions {
  readonly authenticate: Authenticate;
  readonly limits: Pick<RequestLimits, 'assignClient'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly config: Pick<
    GatewayConfig,
    | 'GATEWAY_MAX_REQUESTS_PER_MINUTE'
    | 'GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE'
    | 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'
    | 'GATEWAY_TRUSTED_PROXIES'
    | 'GATEWAY_MAX_BODY_BYTES'
  >;
}

/** Who has a network of IPv6 has 2^64 addresses in it: they share one budget. */
export const clientNetwork = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
};

const rateLimited = (message: string, { waitSeconds }: RateLimitStatus): Refusal =>
  refusal('RateLimitError', message, { retryAfterSeconds: waitSeconds });

/** Says it as the draft of the IETF has it, and as its earlier versions had it, which most clients know. */
const setRateLimitHeaders = (reply: FastifyReply, { limit, remaining, resetSeconds }: RateLimitStatus): void => {
  reply.headers({
    'ratelimit-policy': `"requests";q=${limit};w=60`,
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  });
};

const clientOf = ({ caller, isPublic }: Principal, address: string): Client => {
  const own = caller.id > 0 ? `user ${caller.id}` : `token ${caller.tokenId ?? caller.id}`;
  return { id: isPublic ? `frontend ${address}` : own, address, isPublic };
};

/** Limits the requests of one address for a page that needs no key, by `GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE`. */
export const anonymousRateLimit = ({
  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'>): preHandlerAsyncHookHandler => {
  const budgets = perMinute === 0 ? undefined : rateLimiter(perMinute);
  return async ({ ip }) => {
    const standing = budgets?.consume(clientNetwork(ip));
    if (standing === undefined || standing.waitSeconds === 0) return;
    throw rateLimited('There were too many requests for this page from your address.', standing);
  };
};

/** The bytes of a body that cost as much of a budget as a request without one. */
const bytesPerRequest = 16 * 1024;

/**
 * Counts the requests of every key, and of every address those with a frontend key and those without a valid one. A valid key is always let
 * in, however many invalid ones come from its address: only these are refused with 429 once the budget of the address is used up.
 */
export const admission = ({ authenticate, limits, log, config }: AdmissionOptions): Admit => {
  const budgetsOf = (perMinute: number) => (perMinute === 0 ? undefined : rateLimiter(perMinute));
  const requests = budgetsOf(config.GATEWAY_MAX_REQUESTS_PER_MINUTE);
  const frontend = budgetsOf(config.GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE);
  const failures = budgetsOf(config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE);
  let hasWarned = false;

  const authenticated = async (request: FastifyRequest, address: string): Promise<Principal> => {
    try {
      return await authenticate(request.headers.authorization);
    } catch (error) {
      if (failures !== undefined && error instanceof Refusal && error.kind === 'AuthenticationRequired') {
        const standing = failures.consume(address);
        if (standing.waitSeconds > 0) {
          throw rateLimited('There were too many requests without a valid key from your address.', standing);
        }
      }
      throw error;
    }
  };

  /** The operator of a proxy that is not named in the settings cannot see why its clients share one budget. */
  const warnOfProxy = ({ headers, ip }: FastifyRequest): void => {
    if (hasWarned || headers['x-forwarded-for'] === undefined || config.GATEWAY_TRUSTED_PROXIES !== undefined) return;
    hasWarned = true;
    log.warn(
      `The clients behind the proxy ${ip} share one budget of requests with frontend keys, which is used up. ` +
        'Name the proxy in GATEWAY_TRUSTED_PROXIES, so that each client has its own.',
    );
  };

  /** A body costs by its size; one of unknown size as much as the largest. */
  const costOf = ({ headers }: FastifyRequest): number => {
    const bytes =
      headers['transfer-encoding'] === undefined
        ? Number(headers['content-length'] ?? 0)
        : config.GATEWAY_MAX_BODY_BYTES;
    return 1 + Math.floor(Math.min(bytes, config.GATEWAY_MAX_BODY_BYTES) / bytesPerRequest);
  };

  return async (request, reply) => {
    const address = clientNetwork(request.ip);
    const principal = await authenticated(request, address);
    limits.assignClient(request, clientOf(principal, address));
    const { caller, isPublic } = principal;
    const standings = [
      requests?.consume(caller.tokenId ?? String(caller.id)),
      isPublic ? frontend?.consume(address, costOf(request)) : undefined,
    ].filter((standing) => standing !== undefined);
    const [standing] = standings.sort(
      (one, other) => other.waitSeconds - one.waitSeconds || one.remaining - other.remaining,
    );
    if (standing === undefined) return principal;
    setRateLimitHeaders(reply, standing);
    if (standing.waitSeconds > 0) {
      if (isPublic) warnOfProxy(request);
      const whose = isPublic ? 'with frontend keys from your address' : 'of this key';
      throw rateLimited(`The budget of ${standing.limit} requests a minute ${whose} is used up.`, standing);
    }
    return principal;
  };
};
