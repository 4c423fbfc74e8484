/** Chances that come out the same for the same seed. */
export interface Random {
  /** from 0 up to and without 1 */
  fraction(): number;
  /** a whole number from `least` to `most`, both included */
  between(least: number, most: number): number;
  /** true so often, from 0 to 1 */
  chance(often: number): boolean;
  pick<T>(list: readonly T[]): T;
}

/** The generator mulberry32: 32 bits of state, and good enough to choose requests with. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const between = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    between,
    chance: (often) => fraction() < often,
    pick: (list) => {
      if (list.length === 0) throw new Error('There is nothing to pick from.');
      return list[between(0, list.length - 1)] as never;
    },
  };
};

/** The chances of the nth request of a run, whatever came before it. */
export const randomOf = (seed: number, nth: number): Random =>
  randomFrom(Math.imul(seed, 0x9e3779b1) ^ Math.imul(nth + 1, 0x85ebca6b));
