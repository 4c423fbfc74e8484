import { setTimeout as sleep } from 'node:timers/promises';
import { changedBySomeoneElse } from '../../domain/refusals.ts';

/** The maximum number of attempts while the request is edited concurrently. */
const maxTries = 20;

/**
 * Repeats a write that checks a request without locking it, until no other edit of the request happens between the check and the write.
 * @param attempt returns undefined, and writes nothing, if the request was edited since the check
 * @throws Refusal `ConflictError` if the request was edited during every attempt
 */
export const retryUntilCurrent = async <T>(attempt: () => Promise<T | undefined>): Promise<T> => {
  for (let tries = 0; tries < maxTries; tries++) {
    const reply = await attempt();
    if (reply !== undefined) return reply;
    // Jitter, so that two conflicting attempts do not collide again.
    await sleep(Math.random() * 10);
  }
  throw changedBySomeoneElse();
};
