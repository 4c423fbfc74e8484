import type { Refusal } from '@bunting/contracts';

/** One of the counters that a place is taken under, and the refusal when it is used up. */
export interface Quota {
  readonly holder: string;
  readonly limit: number;
  readonly refuse: () => Refusal;
}

export interface ConcurrencyLimit {
  /**
   * Takes a place under all of the shares, or under none.
   * @returns what releases the place; a second call of it does nothing
   * @throws Refusal of the first share that is used up
   */
  acquire(shares: readonly Quota[]): () => void;
  inUse(holder: string): number;
}

/** A semaphore whose places are counted under several holders, such as a key, a user and the whole process. */
export const concurrencyLimit = (): ConcurrencyLimit => {
  const places = new Map<string, number>();
  const held = (holder: string): number => places.get(holder) ?? 0;
  const change = (holder: string, by: 1 | -1): void => {
    const count = held(holder) + by;
    if (count === 0) places.delete(holder);
    else places.set(holder, count);
  };

  return {
    inUse: held,
    acquire: (shares) => {
      const usedUp = shares.find(({ holder, limit }) => held(holder) >= limit);
      if (usedUp !== undefined) throw usedUp.refuse();
      for (const { holder } of shares) change(holder, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { holder } of shares) change(holder, -1);
      };
    },
  };
};
