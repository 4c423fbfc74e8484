import type { Kind } from './terms.ts';

/** Letters of terms, and some for each term itself. */
const room = 6_000_000;
const perTerm = 32;

/** The ids of terms, as far as they are remembered. */
export interface KnownTerms {
  idOf(kind: Kind, text: string): number | undefined;
  add(kind: Kind, text: string, id: number): void;
  /**
   * Begins to learn from an index with this stamp. Forgets everything unless that is the stamp of what was learnt last: somebody
   * else may have dropped terms, or what was learnt was not committed.
   */
  begin(stamp: string): void;
  /** Ends what was begun: the index will have this stamp, if all that was learnt is so. */
  end(stamp: string): void;
}

/** Remembers ids of terms while there is room; what has not been used for long goes first. */
export const knownTerms = (most = room): KnownTerms => {
  let stamped: string | undefined;
  // Two of each: when the younger is full, it becomes the older, and what was in that and not used since is forgotten.
  let younger = new Map<string, number>();
  let older = new Map<string, number>();
  let used = 0;
  const keep = (key: string, id: number): void => {
    younger.set(key, id);
    used += key.length + perTerm;
    if (used < most / 2) return;
    [older, younger, used] = [younger, new Map(), 0];
  };
  return {
    idOf: (kind, text) => {
      const key = `${kind}:${text}`;
      const young = younger.get(key);
      if (young !== undefined) return young;
      const id = older.get(key);
      if (id !== undefined) keep(key, id);
      return id;
    },
    add: (kind, text, id) => keep(`${kind}:${text}`, id),
    begin: (stamp) => {
      if (stamp !== stamped) [older, younger, used] = [new Map(), new Map(), 0];
      stamped = undefined;
    },
    end: (stamp) => {
      stamped = stamp;
    },
  };
};
