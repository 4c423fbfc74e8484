// Own code instead of Fastify's body parser: a body is read only after authentication and permission, has a deadline of its own, and its
// depth and size as JSON are checked before it is parsed (docs/security.md, Limits).
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { invalid, mayHoldUnstorableText, type Refusal, refusal, requireStorableText } from '@bunting/contracts';
import type { HttpSettings } from '../settings.ts';

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

export function ordinaryJsonLimits(config: HttpSettings): JsonLimits {
  return {
    depth: config.GATEWAY_MAX_JSON_DEPTH,
    members: config.GATEWAY_MAX_JSON_MEMBERS,
    items: config.GATEWAY_MAX_JSON_ITEMS,
    values: config.GATEWAY_MAX_JSON_VALUES,
  };
}

export function largeJsonLimits(config: HttpSettings): JsonLimits {
  return {
    ...ordinaryJsonLimits(config),
    items: config.GATEWAY_MAX_LARGE_JSON_ITEMS,
    values: config.GATEWAY_MAX_LARGE_JSON_VALUES,
  };
}

function beyondLimit(fault: string): Refusal {
  return invalid(`The \`/body\` property ${fault}.`, '/body');
}

const quote = 0x22;
const backslash = 0x5c;
const comma = 0x2c;
const openObject = 0x7b;
const openList = 0x5b;
const closeObject = 0x7d;
const closeList = 0x5d;
const blank = 0x20;

/**
 * Per open level of the JSON that is scanned: the number of its entries so far, and whether it is an object. One scan after the other uses
 * them: to make them anew took a tenth of the CPU of a request with a short body.
 */
let levels = { entries: new Uint32Array(64), isObject: new Uint8Array(64) };

/**
 * Refuses JSON beyond the limits by scanning its text once, without recursion, before it is parsed. Whether the text is valid JSON is left
 * to the parser.
 * @throws Refusal `ValidationError` that names the exceeded limit
 */
export function requireJsonWithin(json: string, { depth, members, items, values }: JsonLimits): void {
  if (levels.entries.length <= depth)
    levels = { entries: new Uint32Array(depth + 1), isObject: new Uint8Array(depth + 1) };
  const { entries, isObject } = levels;
  // Commas outside of all lists and objects count there; every other level is set when it opens.
  entries[0] = 0;
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
}

function tooLarge(limit: number): Refusal {
  return refusal(
    'PayloadTooLarge',
    `The body of the request is larger than ${limit} bytes, which is the most that is accepted here.`,
  );
}

/** Refuses a body by its `Content-Length`, before a byte of it is read. @throws Refusal `PayloadTooLarge` */
export function requireContentLengthWithin({ headers }: IncomingMessage, limit: number): void {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
}

/** The client closed the connection, or sent invalid HTTP, before the request was complete: no response is possible. */
export class RequestAborted extends Error {}

export interface BodyLimits {
  readonly maxBytes: number;
  /** milliseconds in which the whole body must arrive */
  readonly timeoutMs: number;
}

/**
 * Reads the body of a request; called after token, permission and content type have been checked.
 * @throws Refusal `PayloadTooLarge` as soon as it exceeds the limit, `RequestTimeout` when it does not arrive in time, RequestAborted
 */
export function readBody(
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes, timeoutMs }: BodyLimits,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const cleanUp = () => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) return void chunks.push(chunk);
      cleanUp();
      request.pause();
      reject(tooLarge(maxBytes));
    };
    const onEnd = () => {
      cleanUp();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    };
    const onLost = () => {
      cleanUp();
      reject(new RequestAborted('The request ended before its body did.'));
    };
    const timer = setTimeout(() => {
      cleanUp();
      request.pause();
      // The rest of the body is not read, so no further request can follow on this connection.
      response.shouldKeepAlive = false;
      reject(refusal('RequestTimeout', 'The request did not arrive in time. Send it again.'));
    }, timeoutMs);
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    if (request.headers.expect !== undefined) response.writeContinue();
  });
}

/** True when JSON text might hold a key that reaches a prototype; most text cannot, and its values need no traversal. */
function mayHoldPrototypeKey(json: string): boolean {
  return json.includes('__proto__') || json.includes('constructor') || json.includes('\\u');
}

/** Whether a recursive merge of the member could pollute a prototype. */
function reachesPrototype(key: string, member: unknown): boolean {
  return (
    key === '__proto__' ||
    (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'))
  );
}

/** Recursion is bounded by the depth limit, checked before. */
function requireNoPrototypeKey(value: unknown, path: string): void {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const memberPath = `${path}/${key}`;
    if (reachesPrototype(key, member))
      throw invalid(`The \`${memberPath}\` property is not allowed: its name is reserved.`, memberPath);
    requireNoPrototypeKey(member, memberPath);
  }
}

function isStorable(text: unknown): boolean {
  return typeof text !== 'string' || (!text.includes('\0') && text.isWellFormed());
}

function isUnusable(key: string, member: unknown): boolean {
  return reachesPrototype(key, member) || !isStorable(key);
}

/** Whether an item of a list, such as the count of a feature in the report of a proxy, has a text that cannot be stored. */
function hasUnstorableText(item: unknown): boolean {
  return typeof item === 'object' && item !== null ? !Object.values(item).every(isStorable) : !isStorable(item);
}

/** The value without the members whose names cannot be used, and without the items of lists that name something that cannot be stored. */
function withoutUnusableNames(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.filter((item) => !hasUnstorableText(item)).map(withoutUnusableNames);
  const usable = Object.entries(value).filter(([key, member]) => !isUnusable(key, member));
  return Object.fromEntries(usable.map(([key, member]) => [key, withoutUnusableNames(member)]));
}

/** How the texts in the JSON of a body are checked. */
export interface TextChecks {
  /** members with names that cannot be used are left out instead of refused, as are items of lists with texts that cannot be stored */
  readonly dropsUnusableNames: boolean;
  /** the values of texts may be of any characters, since they are not stored */
  readonly acceptsUnstorableText: boolean;
}

/**
 * Parses the JSON of a body; undefined for an empty one.
 * @throws Refusal `ValidationError` that names the fault
 */
export function parseUntrustedJson(
  body: Buffer,
  bounds: JsonLimits,
  { dropsUnusableNames, acceptsUnstorableText }: TextChecks = {
    dropsUnusableNames: false,
    acceptsUnstorableText: false,
  },
): unknown {
  if (body.length === 0) return undefined;
  if (!isUtf8(body))
    throw invalid('The `/body` property must be JSON in UTF-8: some of its bytes are no UTF-8.', '/body');
  const text = body.toString();
  // Files from Windows may begin with a byte order mark, which `JSON.parse` refuses.
  const json = text.startsWith('\ufeff') ? text.slice(1) : text;
  requireJsonWithin(json, bounds);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalid(`The \`/body\` property must be valid JSON: ${(error as Error).message}.`, '/body');
  }
  // A key with an escape may be `__proto__`, and may hold a character that cannot be stored.
  if (dropsUnusableNames && mayHoldPrototypeKey(json)) value = withoutUnusableNames(value);
  if (!acceptsUnstorableText && mayHoldUnstorableText(json)) requireStorableText(value, '/body');
  if (!dropsUnusableNames && mayHoldPrototypeKey(json)) requireNoPrototypeKey(value, '/body');
  return value;
}
