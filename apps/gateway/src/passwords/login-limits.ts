import { type Refusal, refusal } from '@bunting/contracts';
import { clientNetwork } from '../admission/admit.ts';
import { rateLimiter, type RateLimitStatus } from '../admission/rate-limit.ts';
import type { GatewayConfig } from '../config.ts';

/** The limit of wrong passwords per user, as a multiple of the limit per address. Addresses where the user has a session do not count. */
const userFactor = 3;

const tooMany = (whose: string, { waitSeconds }: RateLimitStatus): Refusal =>
  refusal('RateLimitError', `There were too many attempts to sign in ${whose}. Try again in ${waitSeconds} s.`, {
    retryAfterSeconds: waitSeconds,
  });

/**
 * Limits attempts to sign in: per address, and per user, by whichever name, from addresses where the user has no session. An attempt that
 * succeeds costs nothing. So an attack on one user locks out neither other users nor the user at an address with a session. Names without a
 * user have the same limits.
 */
export const loginLimits = ({
  GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE'>) => {
  const addresses = perMinute === 0 ? undefined : rateLimiter(perMinute);
  const users = perMinute === 0 ? undefined : rateLimiter(userFactor * perMinute);
  return {
    /** Counts an attempt before its password is verified. @returns the failures of the address. @throws Refusal `RateLimitError` */
    attempt: (address: string): number => {
      const status = addresses?.consume(clientNetwork(address));
      if (status === undefined) return 0;
      if (status.waitSeconds > 0) throw tooMany('from your address', status);
      return perMinute - status.remaining;
    },
    /** Counts an attempt under a user, or under a name that no user has. @returns the failures under it. @throws Refusal `RateLimitError` */
    attemptFor: (accountKey: string): number => {
      const status = users?.consume(accountKey);
      if (status === undefined) return 0;
      if (status.waitSeconds > 0) throw tooMany('as this user', status);
      return userFactor * perMinute - status.remaining;
    },
    /** Refunds a successful attempt. @param accountKey undefined where the attempt was counted under the address alone */
    succeeded: (address: string, accountKey: string | undefined): void => {
      addresses?.refund(clientNetwork(address));
      if (accountKey !== undefined) users?.refund(accountKey);
    },
  };
};
export type LoginLimits = ReturnType<typeof loginLimits>;
