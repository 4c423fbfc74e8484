import type { Logger } from '@bunting/runtime';
import { clientNetwork, rateLimiter, type RateLimitStatus, requireWithinRateLimit } from '@bunting/http';
import type { GatewayConfig } from '../../config.ts';

/** The limit of wrong passwords per user, as a multiple of the limit per address. Addresses where the user has a session do not count. */
const userFactor = 3;

/** Returns the number of failures that a budget has counted. @throws Refusal `RateLimitError` when the budget is used up */
function requireFailuresWithin(status: RateLimitStatus, scope: string): number {
  const { limit, remaining, waitSeconds } = status;
  requireWithinRateLimit(status, `There were too many attempts to sign in ${scope}. Try again in ${waitSeconds} s.`);
  return limit === Infinity ? 0 : limit - remaining;
}

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
export function loginLimits({
  GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE: perMinute,
}: Pick<GatewayConfig, 'GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE'>) {
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
}
export type LoginLimits = ReturnType<typeof loginLimits>;

/** Failures that are logged one by one each minute; further ones are counted. */
const maxFailuresPerMinute = 60;

/** Logs who signs in and out. What was typed as a user name is not logged: it may be a password. */
export function signInLog(log: Pick<Logger, 'info' | 'warn'>) {
  const budget = rateLimiter(maxFailuresPerMinute);
  let unloggedCount = 0;
  return {
    /** @param how e.g. `a password` */
    success: (userId: number, how: string): void => log.info({ userId }, `User ${userId} signed in with ${how}.`),
    /** @param userId undefined for the name of no active user with a password */
    failure: (userId: number | undefined, address: string): void => {
      if (budget.consume('failures').waitSeconds > 0) {
        unloggedCount++;
        return;
      }
      const reason =
        userId === undefined
          ? 'no active user with a password has the name that was sent'
          : `the password of user ${userId} was wrong`;
      const omission = unloggedCount === 0 ? '' : ` ${unloggedCount} further failures before it were not logged.`;
      log.warn(
        { userId, address },
        `A sign-in from ${address} failed: ${reason}.${omission} GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE limits attempts.`,
      );
      unloggedCount = 0;
    },
    /** @param action after the name of the user, e.g. `changed the password` */
    changed: (userId: number, action: string): void => log.info({ userId }, `User ${userId} ${action}.`),
    failedReset: (error: unknown): void =>
      log.warn(
        { err: error },
        'The gateway could not create the link to choose a password that a user requested. The user can request it again.',
      ),
    signedOut: (userId: number): void => log.info({ userId }, `User ${userId} signed out.`),
  };
}
export type SignInLog = ReturnType<typeof signInLog>;
