import { invalid, type Refusal } from '@bunting/contracts';

/** How much JSON one body may hold. */
export interface JsonLimits {
  /** how many objects and lists may stand within one another */
  readonly depth: number;
  /** members of one object */
  readonly members: number;
  /** items of one list */
  readonly items: number;
  /** values altogether */
  readonly values: number;
}

const tooMuch = (what: string): Refusal => invalid(`The \`/body\` property ${what}.`, '/body');

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openObject = 0x7b;
const openList = 0x5b;
const closeObject = 0x7d;
const closeList = 0x5d;
const blank = 0x20;

/**
 * Refuses JSON that holds more than it may, by its text: in one pass, without recursion, and before anything is made of it.
 * Whether it is JSON at all is judged by the parser, after this.
 */
export const requireJsonWithin = (json: string, { depth, members, items, values }: JsonLimits): void => {
  // Of what is open, level by level: how many entries have begun, and whether it is an object.
  const entries = new Uint32Array(depth + 1);
  const isObject = new Uint8Array(depth + 1);
  let level = 0;
  let counted = 1;
  let justOpened = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code <= blank) continue;
    if (justOpened) {
      justOpened = false;
      if (code !== closeObject && code !== closeList) counted++;
    }
    if (code === quote) {
      for (at++; at < json.length && json.charCodeAt(at) !== quote; at++) {
        if (json.charCodeAt(at) === backslash) at++;
      }
    } else if (code === comma) {
      const begun = (entries[level] as number) + 1;
      entries[level] = begun;
      if (isObject[level] === 1) {
        if (begun > members) throw tooMuch(`has an object with more than ${members} members`);
      } else if (begun > items) throw tooMuch(`has a list with more than ${items} items`);
      counted++;
    } else if (code === openObject || code === openList) {
      if (level === depth) throw tooMuch(`is nested more than ${depth} levels deep`);
      level++;
      entries[level] = 1;
      isObject[level] = code === openObject ? 1 : 0;
      justOpened = true;
    } else if ((code === closeObject || code === closeList) && level > 0) level--;
    if (counted > values) throw tooMuch(`holds more than ${values} values`);
  }
};
