import type { Caller, ClientFeaturesQuery, Refusal, Tag } from '@bunting/contracts';
import { projectsOf } from './application-token.ts';
import { shortName, invalidProperty } from '../refusals.ts';
import { parseTag } from '../tags/tag.ts';

/** Which features an application is given, and in what form: its token has the last word. */
export interface DeliveryQuery {
  readonly environment: string;
  /** in one order, each once; undefined for those of every project */
  readonly projects?: readonly string[];
  readonly namePrefix?: string;
  /** with any of these */
  readonly tags?: readonly Tag[];
  /** whether strategies carry the constraints of their segments themselves */
  readonly inlineSegments: boolean;
}

const sortedUnique = (values: readonly string[]): string[] => [...new Set(values)].sort();

/** Since 4.2.0 of the client specification SDKs know segments; who does not say what it keeps to knows none. */
export const knowsSegments = (clientSpec = ''): boolean => {
  const [major = Number.NaN, minor = 0] = clientSpec.split('.', 2).map(Number);
  return major > 4 || (major === 4 && minor >= 2);
};

/** The projects that an application is given features of; undefined for every one. */
const projectsFor = (caller: Caller, request: readonly string[] | undefined): readonly string[] | undefined => {
  const ofToken = projectsOf(caller);
  return ofToken.includes('*') ? request : ofToken;
};

/** @param environment one that the token is good for */
export const deliveryQuery = (
  caller: Caller,
  environment: string,
  query: Omit<ClientFeaturesQuery, 'environment'> = {},
): DeliveryQuery => {
  const projects = projectsFor(caller, query.project);
  const tags = query.tag?.map((written, nth) => parseTag(written, `/query/tag/${nth}`));
  return {
    environment,
    ...(projects === undefined ? {} : { projects: sortedUnique(projects) }),
    ...(query.namePrefix === undefined ? {} : { namePrefix: query.namePrefix }),
    ...(tags === undefined ? {} : { tags }),
    inlineSegments: !knowsSegments(query.clientSpec),
  };
};

/** 400: there is no such environment to evaluate features in. */
export const deliveryEnvironmentNotFound = (environment: string): Refusal =>
  invalidProperty(`Could not find environment ${shortName(environment)}`, '/query/environment');
