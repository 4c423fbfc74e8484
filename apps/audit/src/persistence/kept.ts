/** What was found, kept as long as there is room: what was used least recently goes first. */
export interface Kept<Found> {
  get(key: string): Found | undefined;
  set(key: string, found: Found): void;
  delete(key: string): void;
}

/** Keeps what searches have found. Its size is told in 32-bit words, and so is the room. */
export const kept = <Found>(room: number, wordsOf: (found: Found) => number): Kept<Found> => {
  const all = new Map<string, Found>();
  let used = 0;
  // What matches nothing takes some room, too.
  const sizeOf = (key: string, found: Found): number => wordsOf(found) + Math.ceil(key.length / 2) + 48;
  const remove = (key: string): Found | undefined => {
    const found = all.get(key);
    if (found === undefined) return undefined;
    all.delete(key);
    used -= sizeOf(key, found);
    return found;
  };
  const add = (key: string, found: Found): void => {
    all.set(key, found);
    used += sizeOf(key, found);
  };
  return {
    get: (key) => {
      const found = remove(key);
      if (found !== undefined) add(key, found);
      return found;
    },
    set: (key, found) => {
      remove(key);
      add(key, found);
      for (const oldest of all.keys()) {
        if (used <= room) break;
        remove(oldest);
      }
    },
    delete: (key) => void remove(key),
  };
};
