import type { Logger } from '@bunting/runtime';
import { rateLimiter } from '../admission/rate-limit.ts';

/** Failures that are logged one by one each minute; further ones are counted. */
const maxFailuresPerMinute = 60;

/** Logs who signs in and out. What was typed as a user name is not logged: it may be a password. */
export const signInLog = (log: Pick<Logger, 'info' | 'warn'>) => {
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
};
export type SignInLog = ReturnType<typeof signInLog>;
