import type { DescribedResponse } from './api-description.ts';
import { type FuzzResponse, linesType } from './fuzz-client.ts';
import type { FuzzRequest } from './valid-requests.ts';
import type { InvalidRequest } from './invalid-requests.ts';

/** The promises that a response can break. */
export type Promised =
  | 'no response'
  | 'a response of 5xx'
  | 'an undocumented status'
  | 'a body that breaks its schema'
  | 'a broken input accepted'
  | 'a broken input refused as something else';

export interface ResponseFault {
  readonly promise: Promised;
  readonly detail: string;
}

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Why the body is not the one that is documented; undefined when it is. */
const faultOfBody = ({ text, contentType }: FuzzResponse, { type, faultOf }: DescribedResponse): string | undefined => {
  if (type === undefined) return text === '' ? undefined : 'has a body, and should not';
  if (contentType !== `${type}; charset=utf-8`) return `its type is ${contentType}`;
  const parts = type === linesType ? text.split('\n').filter((line) => line !== '') : [text];
  for (const part of parts) {
    const fault = faultOf(parseJson(part));
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** The violations in a response to a valid request (without `broken`) or to one that breaks a rule. */
export const responseFaults = (
  { operation }: FuzzRequest,
  response: FuzzResponse,
  broken?: InvalidRequest,
): ResponseFault[] => {
  const { status, text } = response;
  const faults: ResponseFault[] = [];
  const shown = text.slice(0, 400);
  if (status >= 500) faults.push({ promise: 'a response of 5xx', detail: `${status} ${shown}` });
  const documented = operation.responses.get(status);
  if (documented === undefined) faults.push({ promise: 'an undocumented status', detail: `${status} ${shown}` });
  const fault = documented === undefined ? undefined : faultOfBody(response, documented);
  if (fault !== undefined)
    faults.push({ promise: 'a body that breaks its schema', detail: `${status}: ${fault}; ${shown}` });
  if (broken !== undefined && status < 500 && status !== broken.expected) {
    const promise = status < 400 ? 'a broken input accepted' : 'a broken input refused as something else';
    faults.push({ promise, detail: `${broken.rule}: ${status} instead of ${broken.expected}; ${shown}` });
  }
  return faults;
};
