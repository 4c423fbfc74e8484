import { anonymousCaller, type Caller, Refusal, refusal, type SignInOptions } from '@bunting/contracts';
import type { Logger } from '@bunting/runtime';
import type { FastifyReply, FastifyRequest, preHandlerAsyncHookHandler } from 'fastify';
import { isOfrepRequest } from '../errors.ts';
import { clientNetwork, isPathBelow } from '../request/head.ts';
import type { Authenticate, CredentialHeaders, Principal } from './principal.ts';
import type { ConcurrentRequestLimits, QuotaClient } from './concurrent-requests.ts';
import { rateLimiter, type RateLimitStatus, requireWithinRateLimit } from './rate-limit.ts';
import type { HttpSettings } from '../settings.ts';

/** Authenticates a request, applies the rate limits and sets the headers that report them. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Principal>;

/** A request without a body that was admitted, and counts among the concurrent requests until it is released. */
interface AdmittedRequest {
  readonly client: QuotaClient;
  readonly release: () => void;
  /** refunds the cost to the rate limit, for a request that is admitted a second time when it is routed */
  readonly refund: () => void;
  /** the headers that report the rate limit */
  readonly headers: Readonly<Record<string, string>>;
}

/**
 * Does what `Admit` does for an authenticated request without a body, without waiting. Undefined for a public token and where `Admit` would
 * refuse the request; nothing is counted then.
 */
export type AdmitBeforeRouting = (principal: Principal) => AdmittedRequest | undefined;

/**
 * The principal of a request that was admitted before, and whose credentials or rights may have changed since.
 * @throws Refusal as `Admit` does without valid credentials
 */
export type AuthenticateAgain = (request: FastifyRequest) => Promise<Principal>;

/** Whether requests with the cookie of a session may come from the page that they come from. */
interface PagePolicy {
  /** @throws Refusal for a write that does not come from an own page */
  readonly requireOwnPage: (request: FastifyRequest) => void;
  /** @throws Refusal for a write that comes from a page of another site */
  readonly refuseForeignPage: (request: FastifyRequest) => void;
}

export interface AdmissionOptions {
  readonly authenticate: Authenticate;
  readonly sameOrigin: PagePolicy;
  /** throws while credentials of the settings are not stored yet */
  readonly requireStarted: () => void;
  /** the ways to sign in, for a 401 of the Admin API */
  readonly signInOptions: () => Promise<SignInOptions>;
  readonly limits: Pick<ConcurrentRequestLimits, 'assignClient' | 'acquire'>;
  readonly log: Pick<Logger, 'warn'>;
  readonly config: Pick<
    HttpSettings,
    | 'GATEWAY_MAX_REQUESTS_PER_MINUTE'
    | 'GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE'
    | 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'
    | 'GATEWAY_TRUSTED_PROXIES'
    | 'GATEWAY_MAX_BODY_BYTES'
  >;
}

/** The headers of the current IETF draft on rate limits, and those of its earlier versions, which most clients read. None without a limit. */
function rateLimitHeaders({ limit, remaining, resetSeconds }: RateLimitStatus): Readonly<Record<string, string>> {
  return limit === Infinity
    ? {}
    : {
        'ratelimit-policy': `"requests";q=${limit};w=60`,
        ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
        'ratelimit-limit': String(limit),
        'ratelimit-remaining': String(remaining),
        'ratelimit-reset': String(resetSeconds),
      };
}

/** Maximum bytes of the body of a request without a key. */
export function maxPublicBodyBytes({ GATEWAY_MAX_BODY_BYTES }: Pick<HttpSettings, 'GATEWAY_MAX_BODY_BYTES'>): number {
  return Math.min(256 * 1024, GATEWAY_MAX_BODY_BYTES);
}

function clientOf({ caller, isPublic }: Principal, address: string): QuotaClient {
  if (isPublic) return { id: `frontend ${address}`, address, group: 'frontend tokens' };
  return { id: caller.id > 0 ? `user ${caller.id}` : `token ${caller.tokenId ?? caller.id}`, address };
}

/** The bytes of a body that the rate limit counts as one further request. */
const bytesPerRequest = 16 * 1024;

/**
 * The cost of a request: one, plus one for each 16 KiB of the body. A chunked body, whose length is unknown, costs as much as the largest.
 */
function costOf({ headers }: FastifyRequest, maxBodyBytes: number): number {
  const bytes = headers['transfer-encoding'] === undefined ? Number(headers['content-length'] ?? 0) : maxBodyBytes;
  return 1 + Math.floor(Math.min(bytes, maxBodyBytes) / bytesPerRequest);
}

/** The key that the rate limit of a token is counted under. */
function budgetKeyOf({ tokenId, id }: Caller): string {
  return tokenId ?? String(id);
}

const anonymousPrincipal: Principal = {
  caller: anonymousCaller,
  mayCallAdminApi: false,
  isPublic: true,
  expiresInMs: Number.POSITIVE_INFINITY,
};

/**
 * Admits requests of the operations that need no key, whatever key they carry: one budget of
 * `GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE` per address covers all of these operations, apart from the budget for invalid keys.
 */
export function publicAdmission({
  limits,
  sameOrigin,
  requireStarted,
  config,
}: Pick<AdmissionOptions, 'limits' | 'sameOrigin' | 'requireStarted' | 'config'>): Admit {
  const budgets = rateLimiter(config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE);
  return async (request, reply) => {
    const address = clientNetwork(request.ip);
    limits.assignClient(request, { id: `anonymous ${address}`, address, group: 'requests without a key' });
    const rateStatus = budgets.consume(address, costOf(request, maxPublicBodyBytes(config)));
    reply.headers(rateLimitHeaders(rateStatus));
    requireWithinRateLimit(rateStatus, 'There were too many requests without a key from your address.');
    // Otherwise a page of another site could sign its visitors in to an account of that site's owner.
    sameOrigin.refuseForeignPage(request);
    requireStarted();
    return anonymousPrincipal;
  };
}

/** OFREP also sends the token as `X-API-Key`. */
function credentialHeadersOf(request: FastifyRequest): CredentialHeaders {
  const { authorization, cookie, 'x-api-key': key } = request.headers;
  if (authorization !== undefined || typeof key !== 'string' || !isOfrepRequest(request))
    return { authorization, cookie };
  return { authorization: key };
}

/**
 * Applies the rate limits: per token, per address for frontend tokens, and per address for requests without a valid token. Only the latter
 * get 429 when their budget is used up: a valid token is accepted however many invalid ones come from its address.
 */
export function admission({
  authenticate,
  sameOrigin,
  signInOptions,
  limits,
  log,
  config,
}: Omit<AdmissionOptions, 'requireStarted'>) {
  const requests = rateLimiter(config.GATEWAY_MAX_REQUESTS_PER_MINUTE);
  const frontend = rateLimiter(config.GATEWAY_MAX_FRONTEND_REQUESTS_PER_MINUTE);
  const failures = rateLimiter(config.GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE);
  let hasWarned = false;

  /** A refused request of the Admin API, with the ways to sign in. */
  const withSignInOptions = async (error: unknown, { raw }: FastifyRequest): Promise<unknown> => {
    const isOffered = error instanceof Refusal && error.kind === 'AuthenticationRequired';
    if (!isOffered || !isPathBelow('/api/admin', raw.url ?? '')) return error;
    return refusal(error.kind, error.message, { signInOptions: await signInOptions() });
  };

  const authenticateAgain: AuthenticateAgain = async (request) => {
    try {
      return await authenticate(credentialHeadersOf(request));
    } catch (error) {
      throw await withSignInOptions(error, request);
    }
  };

  const tooManyFailures = 'There were too many requests without a valid key from your address.';
  const authenticateWithinLimit = async (request: FastifyRequest, address: string): Promise<Principal> => {
    const requireBudget = (): void =>
      requireWithinRateLimit({ waitSeconds: failures.secondsUntilOne(address) }, tooManyFailures);
    try {
      return await authenticate(credentialHeadersOf(request), { address, requireBudget });
    } catch (error) {
      if (!(error instanceof Refusal) || error.kind !== 'AuthenticationRequired') throw error;
      requireWithinRateLimit(failures.consume(address), tooManyFailures);
      throw await withSignInOptions(error, request);
    }
  };

  /** Warns once when the clients of a proxy that GATEWAY_TRUSTED_PROXIES does not name have used up the one budget that they share. */
  const warnOfProxy = ({ headers, ip }: FastifyRequest): void => {
    if (hasWarned || headers['x-forwarded-for'] === undefined || config.GATEWAY_TRUSTED_PROXIES !== undefined) return;
    hasWarned = true;
    log.warn(
      `The clients behind the proxy ${ip} share one rate limit for frontend tokens, and have exceeded it. ` +
        'Name the proxy in GATEWAY_TRUSTED_PROXIES, so that each client has its own limit.',
    );
  };

  const admit: Admit = async (request, reply) => {
    const address = clientNetwork(request.ip);
    const principal = await authenticateWithinLimit(request, address);
    if (principal.isSession) sameOrigin.requireOwnPage(request);
    limits.assignClient(request, clientOf(principal, address));
    const { caller, isPublic } = principal;
    // All visitors of a page share its token: a budget of the token would let one of them lock out all others.
    const rateStatus = isPublic
      ? frontend.consume(address, costOf(request, config.GATEWAY_MAX_BODY_BYTES))
      : requests.consume(budgetKeyOf(caller));
    reply.headers(rateLimitHeaders(rateStatus));
    if (isPublic && rateStatus.waitSeconds > 0) warnOfProxy(request);
    const counted = isPublic ? 'with frontend keys from your address' : 'of this key';
    requireWithinRateLimit(rateStatus, `The budget of ${rateStatus.limit} requests a minute ${counted} is used up.`);
    return principal;
  };

  const admitBeforeRouting: AdmitBeforeRouting = (principal) => {
    if (principal.isPublic) return undefined;
    const client = clientOf(principal, '');
    let release: () => void;
    try {
      release = limits.acquire(client);
    } catch {
      return undefined;
    }
    const budgetKey = budgetKeyOf(principal.caller);
    const rateStatus = requests.consume(budgetKey);
    if (rateStatus.waitSeconds > 0) {
      release();
      return undefined;
    }
    return { client, release, refund: () => requests.refund(budgetKey), headers: rateLimitHeaders(rateStatus) };
  };
  return { admit, admitBeforeRouting, authenticateAgain };
}

/** Limits the requests of one address, or of one IPv6 network, for a page that needs no token, by `GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE`. */
export function anonymousRateLimit({
  GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE: perMinute,
}: Pick<HttpSettings, 'GATEWAY_MAX_UNAUTHENTICATED_REQUESTS_PER_MINUTE'>): preHandlerAsyncHookHandler {
  const budgets = rateLimiter(perMinute);
  return async ({ ip }) =>
    requireWithinRateLimit(
      budgets.consume(clientNetwork(ip)),
      'There were too many requests for this page from your address.',
    );
}
