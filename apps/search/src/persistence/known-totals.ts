/** A total, and the mark of the documents that it is of. */
export interface KnownTotal {
  readonly mark: string;
  readonly total: number;
}

/** Totals that were counted before. One is only right as long as the documents bear its mark, and that is for the statement to say. */
export interface KnownTotals {
  recall(key: string): KnownTotal | undefined;
  keep(key: string, known: KnownTotal): void;
}

/** Keeps the totals that were asked for last. */
export const knownTotals = (most: number): KnownTotals => {
  const totals = new Map<string, KnownTotal>();
  return {
    recall: (key) => totals.get(key),
    keep: (key, known) => {
      totals.delete(key);
      totals.set(key, known);
      const [oldest] = totals.keys();
      if (totals.size > most && oldest !== undefined) totals.delete(oldest);
    },
  };
};
