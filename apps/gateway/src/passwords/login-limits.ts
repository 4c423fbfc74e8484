import { clientNetwork } from '../admission/client-network.ts';
import { rateLimiter, type RateLimitStatus, requireWithinRateLimit } from '../admission/rate-limit.ts';
import type { GatewayConfig } from '../config.ts';

/** The limit of wrong passwords per user, as a multiple of the limit per address. Addresses where the user has a session do not count. */
const userFactor = 3;

/** Returns the number of failures that a budget has counted. @throws Refusal `RateLimitError` when the budget is used up */
const requireFailuresWithin = (status: RateLimitStatus, scope: string): number => {
  const { limit, remaining, waitSeconds } = status;
  requireWithinRateLimit(status, `There were too many attempts to sign in ${scope}. Try again in ${waitSeconds} s.`);
  return limit === Infinity ? 0 : limit - remaining;
};

/**
 * Limits attempts to sign in per network address, and per user (whichever name the attempt gives) from addresses where the user has no
 * session. An attempt that succeeds costs nothing. So an attack on one user locks out neither other users nor the user at an address with a
 * session. Names without a user have the same limits.
 */
export const loginLimits = ({
  GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE'>) => {
  const addresses = rateLimiter(perMinute);
  const users = rateLimiter(userFactor * perMinute);
  return {
    /** Counts an attempt before its password is verified. @returns the failures of the address. @throws Refusal `RateLimitError` */
    countAttempt: (address: string): number =>
      requireFailuresWithin(addresses.consume(clientNetwork(address)), 'from your address'),
    /** Counts an attempt under a user, or under a name that no user has. @returns the failures under it. @throws Refusal `RateLimitError` */
    countAttemptFor: (accountKey: string): number => requireFailuresWithin(users.consume(accountKey), 'as this user'),
    /** Refunds a successful attempt. @param accountKey undefined where the attempt was counted under the address alone */
    refundSuccess: (address: string, accountKey: string | undefined): void => {
      addresses.refund(clientNetwork(address));
      if (accountKey !== undefined) users.refund(accountKey);
    },
  };
};
export type LoginLimits = ReturnType<typeof loginLimits>;
