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
    /** @param userId undefined for a name without a user */
    failure: (userId: number | undefined, address: string): void => {
      if (budget.consume('failures').waitSeconds > 0) {
        unloggedCount++;
        return;
      }
      const account = userId === undefined ? 'no user of this installation' : `user ${userId}`;
      const omission = unloggedCount === 0 ? '' : ` ${unloggedCount} further failures before it were not logged.`;
      log.warn(
        { userId, address },
        `A sign-in as ${account} from ${address} failed: the password was wrong.${omission} GATEWAY_MAX_FAILED_LOGINS_PER_MINUTE limits attempts.`,
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
