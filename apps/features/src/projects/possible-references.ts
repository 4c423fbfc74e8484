import { maxId } from '@bunting/contracts';
import type { PossibleReferences } from './project-context-reader.ts';

/** The maximum length of texts that are looked up as names, in UTF-16 code units. */
const maxLength = 255;

/** All texts and numbers of a request that may be names or ids, at any depth: a JSON Patch may contain them anywhere. */
export const possibleReferencesIn = (request: unknown): PossibleReferences => {
  const texts = new Set<string>();
  const numbers = new Set<number>();
  const pending: unknown[] = [request];
  while (pending.length > 0) {
    const value = pending.pop();
    if (typeof value === 'string' && value.length <= maxLength) texts.add(value);
    else if (typeof value === 'number' && Number.isInteger(value) && Math.abs(value) <= maxId) numbers.add(value);
    else if (typeof value === 'object' && value !== null)
      for (const member of Object.values(value)) pending.push(member);
  }
  return { texts: [...texts], numbers: [...numbers] };
};
