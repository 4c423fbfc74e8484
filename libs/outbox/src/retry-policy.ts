import type { OutboxTopic } from '@bunting/contracts';
import { backoffMs } from '@bunting/runtime';

/** A message that cannot be applied because of its content, and blocks later ones until its next attempt. */
interface BlockingMessage {
  readonly position: number;
  readonly attempts: number;
  /** the time of its next attempt */
  readonly retryAt: number;
  readonly error: unknown;
}

/** By default events, whose order matters, block later ones; states, whose versions keep the order of each entity, do not. */
const deadLetterAfterMsOf: Readonly<Record<OutboxTopic, number>> = { event: 120_000, state: 0, delivery: 0 };
/** The backoff after the first failure of a message; it doubles up to `maxBackoffMs`. */
const firstBackoffMs = 250;
const maxBackoffMs = 30_000;
/** Messages that fail within this time of each other share one `deadLetterAfterMs`, so that a series of them blocks later ones once. */
const sameSeriesMs = 600_000;

/**
 * What becomes of a message that cannot be applied because of its content: it blocks later ones and is retried with backoff for
 * `deadLetterAfterMs`, and then becomes a dead letter. Times are milliseconds of one monotonic clock.
 */
export function retryPolicy(topic: OutboxTopic, deadLetterAfterMs = deadLetterAfterMsOf[topic]) {
  let blocking: BlockingMessage | undefined;
  /** the current series of messages that failed */
  let series = { startedAt: Number.NEGATIVE_INFINITY, lastAt: Number.NEGATIVE_INFINITY };
  return {
    /** The error of the blocking message, and the milliseconds until its next attempt; undefined once the attempt is due. */
    backoff: (now: number): { readonly error: unknown; readonly leftMs: number } | undefined =>
      blocking !== undefined && blocking.retryAt > now
        ? { error: blocking.error, leftMs: blocking.retryAt - now }
        : undefined,
    /**
     * Counts a failed attempt to apply a message, which then blocks.
     * @returns the number of its attempts if it must become a dead letter instead, otherwise undefined
     */
    recordFailure: (position: number, error: unknown, now: number): number | undefined => {
      series = { startedAt: now - series.lastAt > sameSeriesMs ? now : series.startedAt, lastAt: now };
      const attempts = (blocking?.position === position ? blocking.attempts : 0) + 1;
      const leftMs = series.startedAt + deadLetterAfterMs - now;
      if (leftMs <= 0) return attempts;
      const pauseMs = backoffMs(attempts, { firstMs: firstBackoffMs, maxMs: maxBackoffMs });
      blocking = { position, attempts, retryAt: now + Math.min(pauseMs, leftMs), error };
      return undefined;
    },
    /** Ends the block of a message that the checkpoint has passed. */
    unblockUpTo: (position: number): void => {
      if (blocking !== undefined && blocking.position <= position) blocking = undefined;
    },
    /** Ends every block: all messages are applied again. */
    unblock: (): void => {
      blocking = undefined;
    },
  };
}
