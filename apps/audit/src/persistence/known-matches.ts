import type { Matches } from './matches.ts';

/** Of 12 bytes each. */
const keptWords = 2_000_000;

/** What searches have found, kept as long as there is room: what was used least recently goes first. */
export interface KnownMatches {
  get(key: string): Matches | undefined;
  set(key: string, matches: Matches): void;
}

export const knownMatches = (room = keptWords): KnownMatches => {
  const kept = new Map<string, Matches>();
  let used = 0;
  // What matches nothing takes some room, too.
  const sizeOf = (key: string, { words }: Matches): number => words.length + Math.ceil(key.length / 8) + 16;
  const remove = (key: string): void => {
    const matches = kept.get(key);
    if (matches === undefined) return;
    kept.delete(key);
    used -= sizeOf(key, matches);
  };
  return {
    get: (key) => kept.get(key),
    set: (key, matches) => {
      remove(key);
      kept.set(key, matches);
      used += sizeOf(key, matches);
      for (const oldest of kept.keys()) {
        if (used <= room) break;
        remove(oldest);
      }
    },
  };
};
