import type { DescribedResponse } from './api-description.ts';
import { type FuzzResponse, linesType } from './fuzz-client.ts';
import type { FuzzRequest } from './valid-requests.ts';
import type { InvalidRequest } from './invalid-requests.ts';

/** What a response can do that breaks a promise of the API. */
export type BrokenPromise =
  | 'no response'
  | 'a response of 5xx'
  | 'an undocumented status'
  | 'a body that breaks its schema'
  | 'a broken input accepted'
  | 'a broken input refused as something else';

interface ResponseFault {
  readonly promise: BrokenPromise;
  readonly detail: string;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** How the body differs from the documented one; undefined if it does not. */
const faultOfBody = (
  { text, contentType }: FuzzResponse,
  { type, validate }: DescribedResponse,
): string | undefined => {
  if (type === undefined) return text === '' ? undefined : 'has a body, and should not';
  if (contentType !== `${type}; charset=utf-8`) return `its type is ${contentType}`;
  const parts = type === linesType ? text.split('\n').filter((line) => line !== '') : [text];
  for (const part of parts) {
    const fault = validate(parseJson(part));
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** The promises that a response breaks. @param invalid the request with its broken rule; undefined for a valid request */
export const responseFaults = (
  { operation }: FuzzRequest,
  response: FuzzResponse,
  invalid?: InvalidRequest,
): ResponseFault[] => {
  const { status, text } = response;
  const faults: ResponseFault[] = [];
  const excerpt = text.slice(0, 400);
  if (status >= 500) faults.push({ promise: 'a response of 5xx', detail: `${status} ${excerpt}` });
  const documented = operation.responses.get(status);
  if (documented === undefined) faults.push({ promise: 'an undocumented status', detail: `${status} ${excerpt}` });
  const fault = documented === undefined ? undefined : faultOfBody(response, documented);
  if (fault !== undefined)
    faults.push({ promise: 'a body that breaks its schema', detail: `${status}: ${fault}; ${excerpt}` });
  if (invalid !== undefined && status < 500 && status !== invalid.expected) {
    const promise = status < 400 ? 'a broken input accepted' : 'a broken input refused as something else';
    faults.push({ promise, detail: `${invalid.rule}: ${status} instead of ${invalid.expected}; ${excerpt}` });
  }
  return faults;
};
