/** How much of its budget somebody has left. */
export interface Standing {
  /** requests a minute */
  readonly limit: number;
  readonly remaining: number;
  /** seconds until all of the budget is there again */
  readonly resetSeconds: number;
  /** seconds until there is room for one more request; 0 when there is */
  readonly waitSeconds: number;
}

export interface RequestBudgets {
  /** Takes one request out of the budget, if one is left; the standing before it says whether there was. */
  take(who: string): Standing;
  standing(who: string): Standing;
}

interface Bucket {
  readonly level: number;
  readonly at: number;
}

const minute = 60_000;

/** How many budgets are kept in memory: who was not seen for longest starts anew. */
const keptAtMost = 10_000;

/**
 * A budget of requests for each who asks, as a token bucket: it holds what is good for a minute, and fills up evenly. It is
 * that of this process alone.
 */
export const requestBudgets = (perMinute: number, now: () => number = () => performance.now()): RequestBudgets => {
  const buckets = new Map<string, Bucket>();
  const perMs = perMinute / minute;
  const seconds = (requests: number): number => Math.ceil(requests / perMs / 1_000);

  const levelOf = (who: string): number => {
    const bucket = buckets.get(who);
    return bucket === undefined ? perMinute : Math.min(perMinute, bucket.level + (now() - bucket.at) * perMs);
  };
  const standingAt = (level: number): Standing => ({
    limit: perMinute,
    remaining: Math.floor(level),
    resetSeconds: seconds(perMinute - level),
    waitSeconds: level >= 1 ? 0 : seconds(1 - level),
  });

  return {
    standing: (who) => standingAt(levelOf(who)),
    take: (who) => {
      const level = levelOf(who);
      if (level < 1) return standingAt(level);
      // Set anew, so that the first in the map is who was not seen for longest.
      buckets.delete(who);
      if (buckets.size >= keptAtMost) buckets.delete(buckets.keys().next().value as string);
      buckets.set(who, { level: level - 1, at: now() });
      return { ...standingAt(level - 1), waitSeconds: 0 };
    },
  };
};
