import { fractionsFrom } from '../seeded-fractions.ts';

/** Chance that comes out the same for the same seed. */
export interface Chance {
  /** from 0 up to, but not, 1 */
  fraction(): number;
  between(least: number, most: number): number;
  whole(least: number, most: number): number;
  happens(probability: number): boolean;
  one<T>(of: readonly T[]): T;
  shuffled<T>(list: readonly T[]): T[];
  /** chance of its own for somebody, whatever others draw */
  for(name: string): Chance;
}

/** Chance from a seed. */
export const chanceFrom = (seed: number): Chance => {
  const fraction = fractionsFrom(seed);
  const whole = (least: number, most: number): number => least + Math.floor(fraction() * (most - least + 1));
  return {
    fraction,
    between: (least, most) => least + fraction() * (most - least),
    whole,
    happens: (probability) => fraction() < probability,
    one: (of) => of[whole(0, of.length - 1)] as (typeof of)[number],
    shuffled: (list) => {
      const shuffled = [...list];
      for (let at = shuffled.length - 1; at > 0; at--) {
        const other = whole(0, at);
        [shuffled[at], shuffled[other]] = [
          shuffled[other] as (typeof list)[number],
          shuffled[at] as (typeof list)[number],
        ];
      }
      return shuffled;
    },
    for: (name) => {
      let mixed = seed >>> 0;
      for (const letter of name) mixed = Math.imul(mixed ^ (letter.codePointAt(0) ?? 0), 0x01000193) >>> 0;
      return chanceFrom(mixed);
    },
  };
};
