import { invalid, type Refusal } from '@bunting/contracts';
import type { GatewayConfig } from '../../config.ts';

/** The maximum size of the JSON in one body. */
export interface JsonLimits {
  /** nesting depth of objects and arrays */
  readonly depth: number;
  /** members of one object */
  readonly members: number;
  /** items of one array */
  readonly items: number;
  /** values in total, objects and arrays included */
  readonly values: number;
}

/** The limits of the body of an ordinary operation. */
export const ordinaryJsonLimits = (config: GatewayConfig): JsonLimits => ({
  depth: config.GATEWAY_MAX_JSON_DEPTH,
  members: config.GATEWAY_MAX_JSON_MEMBERS,
  items: config.GATEWAY_MAX_JSON_ITEMS,
  values: config.GATEWAY_MAX_JSON_VALUES,
});

/** The limits of the body of an operation with large bodies. */
export const largeJsonLimits = (config: GatewayConfig): JsonLimits => ({
  ...ordinaryJsonLimits(config),
  items: config.GATEWAY_MAX_LARGE_JSON_ITEMS,
  values: config.GATEWAY_MAX_LARGE_JSON_VALUES,
});

const beyondLimit = (fault: string): Refusal => invalid(`The \`/body\` property ${fault}.`, '/body');

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openObject = 0x7b;
const openList = 0x5b;
const closeObject = 0x7d;
const closeList = 0x5d;
const blank = 0x20;

/**
 * Refuses JSON beyond the limits by scanning its text once, without recursion, before it is parsed. Whether the text is valid JSON is left
 * to the parser.
 * @throws Refusal `ValidationError` that names the exceeded limit
 */
export const requireJsonWithin = (json: string, { depth, members, items, values }: JsonLimits): void => {
  // Per open level: the number of its entries so far, and whether it is an object.
  const entries = new Uint32Array(depth + 1);
  const isObject = new Uint8Array(depth + 1);
  let level = 0;
  let valueCount = 1;
  let justOpened = false;
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index);
    if (code <= blank) continue;
    if (justOpened) {
      justOpened = false;
      if (code !== closeObject && code !== closeList) valueCount++;
    }
    if (code === quote) {
      for (index++; index < json.length && json.charCodeAt(index) !== quote; index++) {
        if (json.charCodeAt(index) === backslash) index++;
      }
    } else if (code === comma) {
      const count = (entries[level] as number) + 1;
      entries[level] = count;
      if (isObject[level] === 1) {
        if (count > members) throw beyondLimit(`has an object with more than ${members} members`);
      } else if (count > items) throw beyondLimit(`has a list with more than ${items} items`);
      valueCount++;
    } else if (code === openObject || code === openList) {
      if (level === depth) throw beyondLimit(`is nested more than ${depth} levels deep`);
      level++;
      entries[level] = 1;
      isObject[level] = code === openObject ? 1 : 0;
      justOpened = true;
    } else if ((code === closeObject || code === closeList) && level > 0) level--;
    if (valueCount > values) throw beyondLimit(`holds more than ${values} values`);
  }
};
