import { clientNetwork } from '../../admission/client-network.ts';
import { rateLimiter, type RateLimitStatus, requireWithinRateLimit } from '../../admission/rate-limit.ts';
import type { GatewayConfig } from '../../config.ts';

/** The limit of wrong passwords per user, as a multiple of the limit per address. Addresses where the user has a session do not count. */
const userFactor = 3;

/** Returns the number of failures that a budget has counted. @throws Refusal `RateLimitError` when the budget is used up */
const requireFailuresWithin = (status: RateLimitStatus, scope: string): number => {
  const { limit, remaining, waitSeconds } = status;
  requireWithinRateLimit(status, `There were too many attempts to sign in ${scope}. Try again in ${waitSeconds} s.`);
  return limit === Infinity ? 0 : limit - remaining;
};

/** Under what an attempt is counted besides its address. */
export interface AttemptedAccount {
  readonly key: string;
  /** whether a user has it: anyone can invent the keys of the others, so these are counted apart */
  readonly exists: boolean;
}

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
  const names = rateLimiter(userFactor * perMinute);
  const limiterOf = ({ exists }: AttemptedAccount) => (exists ? users : names);
  return {
    /** Counts an attempt before its password is verified. @returns the failures of the address. @throws Refusal `RateLimitError` */
    countAttempt: (address: string): number =>
      requireFailuresWithin(addresses.consume(clientNetwork(address)), 'from your address'),
    /** Counts an attempt under a user, or under a name that no user has. @returns the failures under it. @throws Refusal `RateLimitError` */
    countAttemptFor: (account: AttemptedAccount): number =>
      requireFailuresWithin(limiterOf(account).consume(account.key), 'as this user'),
    /** Refunds a successful attempt. @param account undefined where the attempt was counted under the address alone */
    refundSuccess: (address: string, account: AttemptedAccount | undefined): void => {
      addresses.refund(clientNetwork(address));
      if (account !== undefined) limiterOf(account).refund(account.key);
    },
  };
};
export type LoginLimits = ReturnType<typeof loginLimits>;
