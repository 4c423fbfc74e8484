// Own code instead of @fastify/rate-limit: the cost of a request grows with its body, and a valid token is accepted however many invalid
// ones come from its address (docs/security.md, Limits); the plugin counts every request as one, in fixed windows. rate-limiter-flexible has
// fixed windows as well, and its memory grows with the number of keys.
import { refusal } from '@bunting/contracts';

/** The remaining budget of a client in requests. */
export interface RateLimitStatus {
  /** requests a minute; infinite without a limit */
  readonly limit: number;
  readonly remaining: number;
  /** seconds until the whole budget is available again */
  readonly resetSeconds: number;
  /** seconds until the rejected request would be accepted; 0 when it was not rejected */
  readonly waitSeconds: number;
}

const unlimited: RateLimitStatus = { limit: Infinity, remaining: Infinity, resetSeconds: 0, waitSeconds: 0 };

/** @throws Refusal `RateLimitError` with the message if the request was rejected */
export function requireWithinRateLimit({ waitSeconds }: Pick<RateLimitStatus, 'waitSeconds'>, message: string): void {
  if (waitSeconds > 0) throw refusal('RateLimitError', message, { retryAfterSeconds: waitSeconds });
}

const minuteMs = 60_000;

/** Maximum number of buckets in memory, about 200 bytes each. */
const maxBuckets = 10_000;
/**
 * Beyond it the fullest of so many least recently used buckets is evicted and starts full again: one that says little. So other keys, such as
 * the many visitors of a page or invented names, do not bring back the budget of a key that has used it up.
 */
const evictionCandidates = 16;

interface Bucket {
  readonly level: number;
  readonly at: number;
}

/** Token buckets by key, each of `perMinute` requests, refilled evenly; 0 for no limit. Each process counts on its own. */
export function rateLimiter(perMinute: number, now: () => number = () => performance.now()) {
  /** by key, the least recently used first: the level, in requests, that the bucket had at a time in milliseconds of `now` */
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / minuteMs;
  const levelOf = (bucket: Bucket | undefined): number =>
    bucket === undefined ? perMinute : Math.min(perMinute, bucket.level + (now() - bucket.at) * perMs);
  const evict = (): void => {
    let fullest: string | undefined;
    let highest = -1;
    let candidates = 0;
    for (const [key, bucket] of buckets) {
      const level = levelOf(bucket);
      if (level > highest) [fullest, highest] = [key, level];
      if (++candidates === evictionCandidates || highest === perMinute) break;
    }
    if (fullest !== undefined) buckets.delete(fullest);
  };
  const secondsToRefill = (requests: number): number => Math.ceil(requests / perMs / 1_000);

  return {
    /** Takes `cost` requests from the bucket of the key, or none when it holds fewer. A cost above the whole budget takes all of it. */
    consume: (key: string, cost = 1): RateLimitStatus => {
      if (perMinute === 0) return unlimited;
      const level = levelOf(buckets.get(key));
      const charge = Math.min(cost, perMinute);
      const isRejected = level < charge;
      const remaining = isRejected ? level : level - charge;
      // Deleted first, so that the map keeps the order of use. A rejected request is a use: its key is not to be evicted before others.
      buckets.delete(key);
      if (buckets.size >= maxBuckets) evict();
      buckets.set(key, { level: remaining, at: now() });
      return {
        limit: perMinute,
        remaining: Math.floor(remaining),
        resetSeconds: secondsToRefill(perMinute - remaining),
        waitSeconds: isRejected ? secondsToRefill(charge - level) : 0,
      };
    },
    /** Whole seconds until the bucket of the key holds a request; 0 if it does. Takes none. */
    secondsUntilOne: (key: string): number => {
      if (perMinute === 0) return 0;
      const level = levelOf(buckets.get(key));
      return level < 1 ? secondsToRefill(1 - level) : 0;
    },
    /** Puts one request back into the bucket of the key. */
    refund: (key: string): void => {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, { ...bucket, level: Math.min(perMinute, bucket.level + 1) });
    },
  };
}
