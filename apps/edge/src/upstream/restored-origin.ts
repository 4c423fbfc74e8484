/** When older revisions are believed. */
export interface RestorationSettings {
  /** how many answers in a row must be older, each on a connection of its own */
  readonly olderAnswers: number;
  /** for how many milliseconds they must have been */
  readonly olderForMs: number;
}

/**
 * Tells an origin that was restored from a backup, whose revisions begin again at earlier ones, from a replica of it that lags. A replica
 * that is up to date answers in between; after a restore none does.
 */
export function restorationWatch({ olderAnswers, olderForMs }: RestorationSettings, now: () => number) {
  let count = 0;
  let since = 0;
  return {
    /** An answer was as new as what is held. */
    seen: (): void => void (count = 0),
    /** An answer was older. @returns whether the origin was restored */
    seenOlder: (): boolean => {
      if (count === 0) since = now();
      count++;
      if (count < olderAnswers || now() - since < olderForMs) return false;
      count = 0;
      return true;
    },
    /** Whether the last answer was older: then the next one is asked for soon. */
    get isSuspected(): boolean {
      return count > 0;
    },
  };
}
