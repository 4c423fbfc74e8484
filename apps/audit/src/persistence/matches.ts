import { ones } from './postings.ts';

/** So many ids, one after the other, make a word with a bit for each; word n begins with the id n × wordLength. */
export const wordLength = 32;

/** What was found up to an id, of the log that has the event `uid` there. */
export interface Found {
  /** up to which id the log was looked through */
  readonly upTo: number;
  /** the event with that id: another one there means another log, as after a backup was restored */
  readonly uid: string | null;
  /** up to which id events had been dropped then */
  readonly droppedId: number;
  /** the words that hold a match, the oldest first */
  readonly words: ArrayLike<number>;
  /** which of its ids match, for each of the words */
  readonly bits: ArrayLike<number>;
}

/**
 * Which events match a search, as of some id. The log only grows at its end, so what was found once stays true, and only
 * what came later needs to be looked at.
 */
export interface Matches extends Found {
  readonly total: number;
  readonly words: Uint32Array;
  readonly bits: Uint32Array;
  /** how many matches the words before each of them hold */
  readonly before: Uint32Array;
}

/** What a first look found: a bit for each id of the log's beginning, and what follows. */
export const matchesIn = (ids: Uint32Array, later: Found): Matches => {
  const { upTo, uid, droppedId } = later;
  let held = 0;
  for (let word = 0; word < ids.length; word++) if (ids[word] !== 0) held++;
  const length = held + later.words.length;
  const [words, bits, before] = [new Uint32Array(length), new Uint32Array(length), new Uint32Array(length)];
  let nth = 0;
  for (let word = 0; word < ids.length; word++) {
    if (ids[word] === 0) continue;
    words[nth] = word;
    bits[nth++] = ids[word] as number;
  }
  words.set(later.words, held);
  bits.set(later.bits, held);
  let total = 0;
  for (nth = 0; nth < length; nth++) {
    before[nth] = total;
    total += ones(bits[nth] as number);
  }
  return { upTo, uid, droppedId, words, bits, before, total };
};

/** Adds what was found after `known.upTo`; its first word may be the last one known. */
export const withLater = (known: Matches, later: Found): Matches => {
  const { upTo, uid, droppedId } = later;
  const more = later.words.length;
  if (more === 0) return { ...known, upTo, uid, droppedId };
  const shared = known.words.at(-1) === later.words[0] ? 1 : 0;
  const length = known.words.length - shared;
  const joined = (first: Uint32Array, second: ArrayLike<number>): Uint32Array => {
    const all = new Uint32Array(length + more);
    all.set(first.subarray(0, length));
    all.set(second, length);
    return all;
  };
  const bits = joined(known.bits, later.bits);
  if (shared > 0) bits[length] = (bits[length] as number) | (known.bits[length] as number);
  const before = joined(known.before, new Uint32Array(more));
  let total = shared > 0 ? (known.before[length] as number) : known.total;
  for (let nth = length; nth < bits.length; nth++) {
    before[nth] = total;
    total += ones(bits[nth] as number);
  }
  return { upTo, uid, droppedId, total, words: joined(known.words, later.words), bits, before };
};

/** The last place of an ascending list that holds less than `bound`; -1 when none does. */
const lastBelow = (ascending: Uint32Array, bound: number): number => {
  let from = 0;
  let to = ascending.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ascending[middle] as number) < bound) from = middle + 1;
    else to = middle;
  }
  return from - 1;
};

/** How many matches have an id of at most `id`. */
const countUpTo = ({ words, bits, before }: Matches, id: number): number => {
  const word = Math.floor(id / wordLength);
  const at = lastBelow(words, word + 1);
  if (at < 0) return 0;
  const those = words[at] === word ? 0xffffffff >>> (wordLength - 1 - (id % wordLength)) : 0xffffffff;
  return (before[at] as number) + ones((bits[at] as number) & those);
};

/** The newest `limit` matches with an id of at most `from`, after `skip` others: the newest first. */
export const idsBefore = (matches: Matches, from: number, limit: number, skip = 0): number[] => {
  const { words, bits, before } = matches;
  let left = countUpTo(matches, from) - skip;
  const ids: number[] = [];
  for (let at = lastBelow(before, left); at >= 0 && ids.length < limit; at--) {
    const within: number[] = [];
    const first = (words[at] as number) * wordLength;
    for (let word = bits[at] as number; word !== 0; word &= word - 1)
      within.push(first + 31 - Math.clz32(word & -word));
    const here = within.slice(0, left - (before[at] as number)).reverse();
    ids.push(...here.slice(0, limit - ids.length));
    left = before[at] as number;
  }
  return ids;
};
