/** How much of its budget somebody has left. */
export interface RateLimitStatus {
  /** requests a minute */
  readonly limit: number;
  readonly remaining: number;
  /** seconds until all of the budget is there again */
  readonly resetSeconds: number;
  /** seconds until there is room for the request that was refused; 0 when none was */
  readonly waitSeconds: number;
}

export interface RateLimiter {
  /** Takes a request out of the budget, if there is enough left for what it costs: as much as one request, or as several. */
  consume(who: string, cost?: number): RateLimitStatus;
  standing(who: string): RateLimitStatus;
}

interface Bucket {
  readonly level: number;
  readonly at: number;
}

const minute = 60_000;

/** How many budgets are kept in memory: who was not seen for longest starts anew. */
const maxBuckets = 10_000;

/**
 * A budget of requests for each who asks, as a token bucket: it holds what is good for a minute, and fills up evenly. It is
 * that of this process alone.
 */
export const rateLimiter = (perMinute: number, now: () => number = () => performance.now()): RateLimiter => {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / minute;
  const seconds = (requests: number): number => Math.ceil(requests / perMs / 1_000);

  const levelOf = (who: string): number => {
    const bucket = buckets.get(who);
    return bucket === undefined ? perMinute : Math.min(perMinute, bucket.level + (now() - bucket.at) * perMs);
  };
  const standingAt = (level: number): RateLimitStatus => ({
    limit: perMinute,
    remaining: Math.floor(level),
    resetSeconds: seconds(perMinute - level),
    waitSeconds: level >= 1 ? 0 : seconds(1 - level),
  });

  return {
    standing: (who) => standingAt(levelOf(who)),
    consume: (who, cost = 1) => {
      const level = levelOf(who);
      // What costs more than a whole budget takes all of it.
      const taken = Math.min(cost, perMinute);
      if (level < taken) return { ...standingAt(level), waitSeconds: seconds(taken - level) };
      // Set anew, so that the first in the map is who was not seen for longest.
      buckets.delete(who);
      if (buckets.size >= maxBuckets) buckets.delete(buckets.keys().next().value as string);
      buckets.set(who, { level: level - taken, at: now() });
      return { ...standingAt(level - taken), waitSeconds: 0 };
    },
  };
};
