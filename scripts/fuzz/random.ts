import { fractionsFrom } from '../seeded-fractions.ts';

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

/** What is drawn from a seed. */
export const randomFrom = (seed: number): Random => {
  const fraction = fractionsFrom(seed);
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
