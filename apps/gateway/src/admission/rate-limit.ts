import { refusal } from '@bunting/contracts';

// Own code instead of @fastify/rate-limit: the cost of a request grows with its body, and a valid token is accepted however many invalid
// ones come from its address (docs/security.md, Limits); the plugin counts every request as one, in fixed windows.

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
export const requireWithinRateLimit = ({ waitSeconds }: RateLimitStatus, message: string): void => {
  if (waitSeconds > 0) throw refusal('RateLimitError', message, { retryAfterSeconds: waitSeconds });
};

const minuteMs = 60_000;

/** Maximum number of buckets in memory; beyond it the least recently used bucket is evicted and starts full again. */
const maxBuckets = 10_000;

/** Token buckets by key, each of `perMinute` requests, refilled evenly; 0 for no limit. Each process counts on its own. */
export const rateLimiter = (perMinute: number, now: () => number = () => performance.now()) => {
  /** by key: the level, in requests, that the bucket had at a time in milliseconds of `now` */
  const buckets = new Map<string, { readonly level: number; readonly at: number }>();
  const perMs = perMinute / minuteMs;
  const secondsToRefill = (requests: number): number => Math.ceil(requests / perMs / 1_000);

  return {
    /** Takes `cost` requests from the bucket of the key, or none when it holds fewer. A cost above the whole budget takes all of it. */
    consume: (key: string, cost = 1): RateLimitStatus => {
      if (perMinute === 0) return unlimited;
      const bucket = buckets.get(key);
      const level = bucket === undefined ? perMinute : Math.min(perMinute, bucket.level + (now() - bucket.at) * perMs);
      const charge = Math.min(cost, perMinute);
      const isRejected = level < charge;
      const remaining = isRejected ? level : level - charge;
      if (!isRejected) {
        // Deleted first, so that the map keeps the order of use and its first key is the least recently used.
        buckets.delete(key);
        if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value as string);
        buckets.set(key, { level: remaining, at: now() });
      }
      return {
        limit: perMinute,
        remaining: Math.floor(remaining),
        resetSeconds: secondsToRefill(perMinute - remaining),
        waitSeconds: isRejected ? secondsToRefill(charge - level) : 0,
      };
    },
    /** Puts one request back into the bucket of the key. */
    refund: (key: string): void => {
      const bucket = buckets.get(key);
      if (bucket !== undefined) buckets.set(key, { ...bucket, level: Math.min(perMinute, bucket.level + 1) });
    },
  };
};
