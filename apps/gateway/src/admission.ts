import { Refusal, refusal } from '@bunting/contracts';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { hash } from 'node:crypto';
import { isIPv6 } from 'node:net';
import type { Authenticate } from './authenticate.ts';
import type { GatewayConfig } from './config.ts';
import type { Principal } from './persistence/token-repository.ts';
import { requestBudgets, type Standing } from './request-budgets.ts';

/** Lets a request in by its key, as long as there is budget for it, and tells the client what is left. */
export type Admit = (request: FastifyRequest, reply: FastifyReply) => Promise<Principal>;

export interface AdmissionOptions {
  readonly authenticate: Authenticate;
  readonly config: Pick<GatewayConfig, 'GATEWAY_REQUESTS_PER_MINUTE' | 'GATEWAY_FAILURES_PER_MINUTE'>;
}

/** How many keys are remembered for having been valid. */
const rememberedAtMost = 10_000;

/** Who has a network of IPv6 has 2^64 addresses in it: they share one budget. */
const networkOf = (address: string): string => {
  if (!isIPv6(address) || address.includes('.')) return address;
  const [head = '', tail] = address.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - first.length - last.length);
  return [...first, ...Array<string>(zeros).fill('0'), ...last].slice(0, 4).join(':');
};

const usedUp = (message: string, { waitSeconds }: Standing): Refusal =>
  refusal('RateLimitError', message, { retryAfterSeconds: waitSeconds });

/** Says it as the draft of the IETF has it, and as its earlier versions had it, which most clients know. */
const tell = (reply: FastifyReply, { limit, remaining, resetSeconds }: Standing): void => {
  reply.headers({
    'ratelimit-policy': `"requests";q=${limit};w=60`,
    ratelimit: `"requests";r=${remaining};t=${resetSeconds}`,
    'ratelimit-limit': String(limit),
    'ratelimit-remaining': String(remaining),
    'ratelimit-reset': String(resetSeconds),
  });
};

/**
 * Counts the requests of every key, and those without a valid key of every address. An address that has used up its
 * failures is not even told whether a key is valid, unless the key has been so before: who guesses is slowed, and who shares
 * the address with a guesser goes on.
 */
export const admission = ({ authenticate, config }: AdmissionOptions): Admit => {
  const { GATEWAY_REQUESTS_PER_MINUTE: perKey, GATEWAY_FAILURES_PER_MINUTE: perAddress } = config;
  const requests = perKey === 0 ? undefined : requestBudgets(perKey);
  const failures = perAddress === 0 ? undefined : requestBudgets(perAddress);
  const wereValid = new Set<string>();

  const remember = (digest: string): void => {
    if (wereValid.has(digest)) return;
    if (wereValid.size >= rememberedAtMost) wereValid.delete(wereValid.values().next().value as string);
    wereValid.add(digest);
  };

  const authenticated = async (request: FastifyRequest): Promise<Principal> => {
    const { authorization } = request.headers;
    if (failures === undefined) return authenticate(authorization);
    const digest = hash('sha256', authorization ?? '', 'base64');
    const address = networkOf(request.ip);
    if (!wereValid.has(digest)) {
      const standing = failures.standing(address);
      if (standing.waitSeconds > 0) {
        throw usedUp('There were too many requests without a valid key from your address.', standing);
      }
    }
    try {
      const principal = await authenticate(authorization);
      remember(digest);
      return principal;
    } catch (error) {
      if (error instanceof Refusal && error.kind === 'AuthenticationRequired') {
        wereValid.delete(digest);
        failures.take(address);
      }
      throw error;
    }
  };

  return async (request, reply) => {
    const principal = await authenticated(request);
    if (requests === undefined) return principal;
    const standing = requests.take(principal.caller.tokenId ?? String(principal.caller.id));
    tell(reply, standing);
    if (standing.waitSeconds > 0) {
      throw usedUp(`The budget of ${standing.limit} requests a minute of this key is used up.`, standing);
    }
    return principal;
  };
};
