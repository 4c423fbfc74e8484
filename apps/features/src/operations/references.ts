import type { References } from '../persistence/features/surroundings.ts';

/** No name that can be looked up is longer. */
const longest = 255;
/** No id that the database has made is larger. */
const largestId = 2_147_483_647;

/** Every text and number of a request that could be a name or an id, wherever it stands: a patch may put it anywhere. */
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
