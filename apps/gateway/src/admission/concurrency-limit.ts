import type { Refusal } from '@bunting/contracts';

/** A limit on how many permits one holder has concurrently, and the refusal beyond it. */
export interface Quota {
  readonly holder: string;
  readonly limit: number;
  readonly refuse: () => Refusal;
}

/** A semaphore that counts each permit under several holders, such as a token, a user and the whole process. */
export const concurrencyLimit = () => {
  const permits = new Map<string, number>();
  const held = (holder: string): number => permits.get(holder) ?? 0;
  const change = (holder: string, by: 1 | -1): void => {
    const count = held(holder) + by;
    if (count === 0) permits.delete(holder);
    else permits.set(holder, count);
  };

  return {
    inUse: held,
    /**
     * Acquires a permit under all of the quotas, or under none.
     * @returns a function that releases the permit; a second call does nothing
     * @throws Refusal of the first quota that is used up
     */
    acquire: (quotas: readonly Quota[]): (() => void) => {
      const usedUp = quotas.find(({ holder, limit }) => held(holder) >= limit);
      if (usedUp !== undefined) throw usedUp.refuse();
      for (const { holder } of quotas) change(holder, 1);
      let isReleased = false;
      return () => {
        if (isReleased) return;
        isReleased = true;
        for (const { holder } of quotas) change(holder, -1);
      };
    },
  };
};
