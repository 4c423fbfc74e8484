import type { References } from '../persistence/features/surroundings.ts';

/** The maximum length of names that are looked up. */
const longest = 255;
/** The maximum of ids in the database. */
const largestId = 2_147_483_647;

/** All texts and numbers of a request that may be names or ids, at any depth: a JSON Patch may contain them anywhere. */
export const referencesIn = (request: unknown): References => {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const waiting: unknown[] = [request];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (typeof value === 'string' && value.length <= longest) texts.add(value);
    else if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= largestId) numbers.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) waiting.push(member);
  }
  return { texts: [...texts], numbers: [...numbers] };
};
