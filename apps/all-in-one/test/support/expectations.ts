import { ErrorBody, type ErrorKind } from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { expect } from 'vitest';
import type { ApiResponse } from './api.ts';

type Schema = Parameters<typeof parse>[0];

/** Expects that a body matches its schema; a failure names the member that does not. */
export const expectFits = (schema: Schema, body: unknown): void => {
  expect(() => parse(schema, structuredClone(body), '/answer')).not.toThrow();
};

const jsonType = /^application\/json\b/;
/** Internals of the program, such as stack traces and SQL, which no response may contain. */
const internals =
  /<html|<!doctype|node_modules|\.[tj]s:\d+|\bat .+:\d+:\d+|\b(SELECT|INSERT|UPDATE|DELETE FROM)\b .*\b(FROM|INTO|SET|WHERE)\b|relation "|violates/;

/** Expects a refusal as the API promises it: the status, and a body with the reason in a sentence that contains the texts `mentioned`. */
export const expectRefusal = (
  response: ApiResponse,
  status: number,
  kind: ErrorKind,
  ...mentioned: readonly string[]
): void => {
  const { id, name, message } = (response.body ?? {}) as Partial<ErrorBody>;
  expect({ status: response.status, name, message }).toEqual({ status, name: kind, message: expect.any(String) });
  expectFits(ErrorBody, response.body);
  expect(id).toMatch(/^\S{8,}$/);
  expect(response.headers.get('content-type')).toMatch(jsonType);
  expect(response.text).not.toMatch(internals);
  for (const text of mentioned) expect(message).toContain(text);
};

export const timestamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
export const uuid = expect.stringMatching(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
export const imageUrl = expect.stringMatching(/^https:\/\/\S+$/);
