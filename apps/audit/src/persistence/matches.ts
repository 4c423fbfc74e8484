/** So many ids, one after the other, make a stretch; stretch n begins with the id n × stretchLength. */
export const stretchLength = 64;

/**
 * Where in the log the events are that match a text, as of some id. The log only grows at its end, so what was counted once
 * stays true, and only what came later needs to be counted.
 */
export interface Matches {
  /** up to which id the log was looked through */
  readonly upTo: number;
  /** the event with that id: another one there means another log, as after a backup was restored */
  readonly uid: string | null;
  /** up to which id events had been dropped then */
  readonly droppedId: number;
  readonly total: number;
  /** the stretches that hold a match, the oldest first */
  readonly stretches: readonly number[];
  /** how many matches each of them holds */
  readonly counts: readonly number[];
}

/** What was found up to an id, of the log that has the event `uid` there. */
export interface Found {
  readonly upTo: number;
  readonly uid: string | null;
  /** up to which id events had been dropped then */
  readonly droppedId: number;
  readonly stretches: readonly number[];
  readonly counts: readonly number[];
}

const sum = (counts: readonly number[]): number => counts.reduce((total, count) => total + count, 0);

/** What a first look found. */
export const matchesIn = (found: Found): Matches => ({ ...found, total: sum(found.counts) });

/** Adds what was found after `before.upTo`; its first stretch may be the last one known. */
export const withLater = (before: Matches, later: Found): Matches => {
  const { upTo, uid, droppedId } = later;
  const total = before.total + sum(later.counts);
  const [stretch, ...stretches] = later.stretches;
  const [count, ...counts] = later.counts;
  if (stretch === undefined || count === undefined) return { ...before, upTo, uid, droppedId };
  if (before.stretches.at(-1) !== stretch) {
    return {
      upTo,
      uid,
      droppedId,
      total,
      stretches: [...before.stretches, ...later.stretches],
      counts: [...before.counts, ...later.counts],
    };
  }
  const joined = [...before.counts.slice(0, -1), (before.counts.at(-1) ?? 0) + count];
  return {
    upTo,
    uid,
    droppedId,
    total,
    stretches: [...before.stretches, ...stretches],
    counts: [...joined, ...counts],
  };
};

/** The stretches that hold a page, and how many of their matches come before it. */
export interface PageStretches {
  readonly stretches: readonly number[];
  readonly left: number;
}

/**
 * The stretches to look into for the newest `limit` matches with an id of at most `from`, after `skip` others, the newest
 * first.
 */
export const stretchesBefore = (
  { upTo, stretches, counts }: Matches,
  from: number,
  limit: number,
  skip = 0,
): PageStretches => {
  const chosen: number[] = [];
  const newest = Math.floor(from / stretchLength);
  let left = skip;
  let found = 0;
  for (let at = stretches.length - 1; at >= 0 && found < left + limit; at--) {
    const stretch = stretches[at] as number;
    const count = counts[at] as number;
    if (stretch > newest) continue;
    // What the newest one holds may lie beyond `from`.
    const isWhole = stretch < newest || from >= upTo;
    if (isWhole && chosen.length === 0 && count <= left) {
      left -= count;
      continue;
    }
    chosen.push(stretch);
    if (isWhole) found += count;
  }
  return { stretches: chosen, left };
};
