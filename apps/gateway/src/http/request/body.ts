import { invalid, mayHoldUnstorableText, type Refusal, refusal, requireStorableText } from '@bunting/contracts';
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type JsonLimits, requireJsonWithin } from './json-limits.ts';

const tooLarge = (limit: number): Refusal =>
  refusal(
    'PayloadTooLarge',
    `The body of the request is larger than ${limit} bytes, which is the most that is accepted here.`,
  );

/** Refuses a body that says itself that it is too large, before a byte of it is read. */
export const requireContentLengthWithin = ({ headers }: IncomingMessage, limit: number): void => {
  if (Number(headers['content-length'] ?? 0) > limit) throw tooLarge(limit);
};

/** The client went away, or what it sent stopped being HTTP: there is nobody to answer. */
export class RequestAborted extends Error {}

export interface BodyLimits {
  /** bytes */
  readonly maxBytes: number;
  /** milliseconds in which all of it must have arrived */
  readonly timeoutMs: number;
}

/**
 * The body of a request. It is asked for only now, after key, permission and content type have been judged.
 * @throws Refusal `PayloadTooLarge` as soon as it grows over the limit, `RequestTimeout` when it does not arrive in time
 */
export const readBody = (
  request: IncomingMessage,
  response: ServerResponse,
  { maxBytes: limit, timeoutMs }: BodyLimits,
): Promise<Buffer> =>
  new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settled = () => {
      clearTimeout(timer);
      request.off('data', onData).off('end', onEnd).off('error', onLost).off('close', onLost);
    };
    const onData = (chunk: Buffer) => {
      size += chunk.length;
      if (size <= limit) return void chunks.push(chunk);
      settled();
      request.pause();
      reject(tooLarge(limit));
    };
    const onEnd = () => {
      settled();
      resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks, size));
    };
    const onLost = () => {
      settled();
      reject(new RequestAborted('The request ended before its body did.'));
    };
    const timer = setTimeout(() => {
      settled();
      request.pause();
      // The rest of the body has no place on this connection any more, and so no request after it has.
      response.shouldKeepAlive = false;
      reject(refusal('RequestTimeout', 'The request did not arrive in time.'));
    }, timeoutMs);
    request.on('data', onData).on('end', onEnd).on('error', onLost).on('close', onLost);
    if (request.headers.expect !== undefined) response.writeContinue();
  });

/** True when the text could hold a key that leads to a prototype; most text cannot, and needs no walk. */
const mayHoldPrototypeKey = (json: string): boolean =>
  json.includes('__proto__') || json.includes('constructor') || json.includes('\\u');

/** Refuses keys by which a careless merge would reach a prototype. Depth is bounded before. */
const requireNoPrototypeKey = (value: unknown, path: string): void => {
  if (typeof value !== 'object' || value === null) return;
  for (const [key, member] of Object.entries(value)) {
    const at = `${path}/${key}`;
    const leads =
      key === '__proto__' ||
      (key === 'constructor' && typeof member === 'object' && member !== null && Object.hasOwn(member, 'prototype'));
    if (leads) throw invalid(`The \`${at}\` property is not allowed: its name is reserved.`, at);
    requireNoPrototypeKey(member, at);
  }
};

/**
 * The JSON that a body holds; undefined for an empty one.
 * @throws Refusal `ValidationError` that says what is wrong with it
 */
export const parseJson = (body: Buffer, bounds: JsonLimits): unknown => {
  if (body.length === 0) return undefined;
  if (!isUtf8(body))
    throw invalid('The `/body` property must be JSON in UTF-8: some of its bytes are no UTF-8.', '/body');
  const json = body.toString();
  requireJsonWithin(json, bounds);
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalid(`The \`/body\` property must be valid JSON: ${(error as Error).message}.`, '/body');
  }
  if (mayHoldUnstorableText(json)) requireStorableText(value, '/body');
  if (mayHoldPrototypeKey(json)) requireNoPrototypeKey(value, '/body');
  return value;
};
