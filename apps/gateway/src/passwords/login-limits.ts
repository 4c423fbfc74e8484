import { clientNetwork } from '../admission/client-network.ts';
import { rateLimiter, type RateLimitStatus, requireWithinRateLimit } from '../admission/rate-limit.ts';
import type { GatewayConfig } from '../config.ts';

/** The limit of wrong passwords per user, as a multiple of the limit per address. Addresses where the user has a session do not count. */
const userFactor = 3;

/** The failures that a budget has counted. @throws Refusal `RateLimitError` when it is used up */
const failuresIn = (status: RateLimitStatus, whose: string): number => {
  const { limit, remaining, waitSeconds } = status;
  requireWithinRateLimit(status, `There were too many attempts to sign in ${whose}. Try again in ${waitSeconds} s.`);
  return limit === Infinity ? 0 : limit - remaining;
};

/**
 * Limits attempts to sign in: per address, and per user, by whichever name, from addresses where the user has no session. An attempt that
 * succeeds costs nothing. So an attack on one user locks out neither other users nor the user at an address with a session. Names without a
 * user have the same limits.
 */
export const loginLimits = ({
  GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE'>) => {
  const addresses = rateLimiter(perMinute);
  const users = rateLimiter(userFactor * perMinute);
  return {
    /** Counts an attempt before its password is verified. @returns the failures of the address. @throws Refusal `RateLimitError` */
    attempt: (address: string): number => failuresIn(addresses.consume(clientNetwork(address)), 'from your address'),
    /** Counts an attempt under a user, or under a name that no user has. @returns the failures under it. @throws Refusal `RateLimitError` */
    attemptFor: (accountKey: string): number => failuresIn(users.consume(accountKey), 'as this user'),
    /** Refunds a successful attempt. @param accountKey undefined where the attempt was counted under the address alone */
    succeeded: (address: string, accountKey: string | undefined): void => {
      addresses.refund(clientNetwork(address));
      if (accountKey !== undefined) users.refund(accountKey);
    },
  };
};
export type LoginLimits = ReturnType<typeof loginLimits>;
