import type { FuzzAnswer } from './client.ts';
import type { FuzzRequest } from './requests.ts';
import type { Broken } from './breakages.ts';

/** The promises that an answer can break. */
export type Promised =
  | 'an answer of 5xx'
  | 'an undocumented status'
  | 'a body that breaks its schema'
  | 'a broken input accepted'
  | 'a broken input refused as something else';

export interface Fault {
  readonly promise: Promised;
  readonly what: string;
}

const parsed = (text: string): unknown => {
  if (text === '') return undefined;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** What is wrong with an answer to a request that is in order (`broken` left out) or that breaks a rule. */
export const faultsOf = ({ operation }: FuzzRequest, answer: FuzzAnswer, broken?: Broken): Fault[] => {
  const { status, text } = answer;
  const faults: Fault[] = [];
  const shown = text.slice(0, 400);
  if (status >= 500) faults.push({ promise: 'an answer of 5xx', what: `${status} ${shown}` });
  const documented = operation.answers.get(status);
  if (documented === undefined) faults.push({ promise: 'an undocumented status', what: `${status} ${shown}` });
  const fault = documented?.faultOf(parsed(text));
  if (fault !== undefined)
    faults.push({ promise: 'a body that breaks its schema', what: `${status}: ${fault}; ${shown}` });
  if (text !== '' && answer.contentType !== 'application/json; charset=utf-8') {
    faults.push({ promise: 'a body that breaks its schema', what: `${status}: its type is ${answer.contentType}` });
  }
  if (broken !== undefined && status < 500 && status !== broken.expected) {
    const promise = status < 400 ? 'a broken input accepted' : 'a broken input refused as something else';
    faults.push({ promise, what: `${broken.rule}: ${status} instead of ${broken.expected}; ${shown}` });
  }
  return faults;
};
