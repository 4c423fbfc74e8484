import type { Matches } from './stretches.ts';

/** About 16 bytes each. */
const keptNumbers = 1_000_000;

/** What searches by text have counted, kept as long as there is room: what was used least recently goes first. */
export interface KnownMatches {
  get(key: string): Matches | undefined;
  set(key: string, matches: Matches): void;
}

export const knownMatches = (room = keptNumbers): KnownMatches => {
  const kept = new Map<string, Matches>();
  let used = 0;
  // A text that matches nothing takes some room, too.
  const sizeOf = (key: string, { stretches }: Matches): number => stretches.length + Math.ceil(key.length / 8) + 16;
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
