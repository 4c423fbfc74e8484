import type { Refusal } from '@bunting/contracts';

/** A limit on how many permits are held concurrently under one key, and the refusal beyond it. */
export interface Quota {
  /** what the permits are counted under, e.g. `user 7` */
  readonly key: string;
  readonly limit: number;
  /** creates the refusal of a permit beyond the limit */
  readonly refuse: () => Refusal;
}

/** A semaphore that counts each permit under several keys, such as those of a token, a user and the whole process. */
export const concurrencyLimit = () => {
  const permits = new Map<string, number>();
  const countOf = (key: string): number => permits.get(key) ?? 0;
  const change = (key: string, by: 1 | -1): void => {
    const count = countOf(key) + by;
    if (count === 0) permits.delete(key);
    else permits.set(key, count);
  };

  return {
    inUse: countOf,
    /**
     * Acquires a permit under all of the quotas, or under none.
     * @returns a function that releases the permit; a second call does nothing
     * @throws Refusal of the first quota that is used up
     */
    acquire: (quotas: readonly Quota[]): (() => void) => {
      const usedUp = quotas.find(({ key, limit }) => countOf(key) >= limit);
      if (usedUp !== undefined) throw usedUp.refuse();
      for (const { key } of quotas) change(key, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { key } of quotas) change(key, -1);
      };
    },
  };
};
