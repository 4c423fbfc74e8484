import { describe, expect, it } from 'vitest';
import { retryPolicy } from './retry-policy.ts';

const second = 1_000;
const minute = 60 * second;
const cause = new Error('cannot be applied');

/** Lets the first message fail whenever it is due, until it becomes a dead letter; returns the pauses and the number of attempts. */
const failUntilDead = (policy: ReturnType<typeof retryPolicy>) => {
  const pauses: number[] = [];
  for (let now = 0; ;) {
    const attempts = policy.recordFailure(1, cause, now);
    if (attempts !== undefined) return { pauses, attempts, atMs: now };
    const pauseMs = policy.backoff(now)?.leftMs ?? 0;
    pauses.push(pauseMs);
    now += pauseMs;
  }
};

describe('a message that cannot be applied because of its content', () => {
  it.each([
    ['is retried for two minutes before it becomes a dead letter, if it is an event', 'event', undefined, 2 * minute],
    ['becomes a dead letter at its first failure, if it is a state', 'state', undefined, 0],
    ['is retried for as long as the projection says', 'event', 5 * second, 5 * second],
  ] as const)('%s', (_rule, topic, deadLetterAfterMs, atMs) => {
    expect(failUntilDead(retryPolicy(topic, deadLetterAfterMs)).atMs).toBeCloseTo(atMs, 3);
  });

  it('is retried after pauses that double from a quarter of a second to half a minute, with a jitter of a quarter', () => {
    const { pauses, attempts } = failUntilDead(retryPolicy('event'));
    const expected = [250, 500, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    // The last pause is shorter: it ends when the message has blocked others for two minutes.
    for (const [nth, pauseMs] of pauses.slice(0, -1).entries()) {
      const middle = expected[nth] ?? 30_000;
      expect([middle * 0.75 <= pauseMs, pauseMs <= middle * 1.25]).toEqual([true, true]);
    }
    expect(attempts).toBe(pauses.length + 1);
  });

  it('blocks with its error until its next attempt is due', () => {
    const policy = retryPolicy('event');
    expect(policy.backoff(0)).toBeUndefined();
    policy.recordFailure(1, cause, 0);
    expect(policy.backoff(100)).toEqual({ error: cause, leftMs: expect.any(Number) });
    // If the due attempt fails for another reason, such as an outage, the loop backs off, and not this policy.
    expect(policy.backoff(second)).toBeUndefined();
  });

  it('blocks no longer once it is applied', () => {
    const policy = retryPolicy('event');
    policy.recordFailure(2, cause, 0);
    policy.unblockUpTo(1);
    expect(policy.backoff(0)).toBeDefined();
    policy.unblockUpTo(2);
    expect(policy.backoff(0)).toBeUndefined();
  });

  it('blocks no longer once all messages are applied again', () => {
    const policy = retryPolicy('event');
    policy.recordFailure(2, cause, 0);
    policy.unblock();
    expect(policy.backoff(0)).toBeUndefined();
  });
});

describe('messages that fail one after the other', () => {
  it('block later ones once, if they fail within ten minutes of each other', () => {
    const policy = retryPolicy('event');
    const { atMs } = failUntilDead(policy);
    expect(policy.recordFailure(2, cause, atMs + 9 * minute)).toBe(1);
    expect(policy.recordFailure(3, cause, atMs + 18 * minute)).toBe(1);
  });

  it('block later ones each, if they fail more than ten minutes apart', () => {
    const policy = retryPolicy('event');
    const { atMs } = failUntilDead(policy);
    expect(policy.recordFailure(2, cause, atMs + 11 * minute)).toBeUndefined();
  });
});
