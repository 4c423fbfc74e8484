/** Random numbers that are the same for the same seed. */
export interface SeededRandom {
  /** from 0 (inclusive) to 1 (exclusive) */
  fraction(): number;
  /** from `min` (inclusive) to `max` (exclusive) */
  fractional(min: number, max: number): number;
  /** from `min` to `max`, both inclusive */
  integer(min: number, max: number): number;
  /** true with this probability */
  chance(probability: number): boolean;
  pick<T>(list: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
  /** a generator that depends on the seed and the name only */
  derive(name: string): SeededRandom;
}

/** Fractions from 0 (inclusive) to 1 (exclusive), by mulberry32. */
function fractionsFrom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

export function seededRandom(seed: number): SeededRandom {
  const fraction = fractionsFrom(seed);
  const integer = (min: number, max: number): number => min + Math.floor(fraction() * (max - min + 1));
  return {
    fraction,
    fractional: (min, max) => min + fraction() * (max - min),
    integer,
    chance: (probability) => fraction() < probability,
    pick: (list) => {
      if (list.length === 0) throw new Error('There is nothing to pick from.');
      return list[integer(0, list.length - 1)] as (typeof list)[number];
    },
    shuffled: (list) => {
      const shuffled = [...list];
      for (let index = shuffled.length - 1; index > 0; index--) {
        const other = integer(0, index);
        [shuffled[index], shuffled[other]] = [
          shuffled[other] as (typeof list)[number],
          shuffled[index] as (typeof list)[number],
        ];
      }
      return shuffled;
    },
    derive: (name) => {
      let mixed = seed >>> 0;
      for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
      return seededRandom(mixed);
    },
  };
}
