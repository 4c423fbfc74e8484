import type { RequestOf, SearchEvents } from '@bunting/contracts';
import {
  parseId,
  invalidParameter,
  type Parameter,
  parameterParser,
  parseDay,
  parseList,
  splitOperator,
} from '@bunting/contracts/validation';

type SearchParameters = RequestOf<typeof SearchEvents>['query'];

/** The parsed filters of an event search. All that are present must match. */
export interface EventFilters {
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  readonly groups?: readonly string[] | undefined;
  readonly text?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly creators?: readonly number[] | undefined;
  /** the start of the first day, UTC */
  readonly notBefore?: Date | undefined;
  /** the end of the last day, UTC */
  readonly before?: Date | undefined;
}

const dayMs = 24 * 60 * 60 * 1_000;

const parseValues = (parameter: Parameter): readonly string[] =>
  parseList(parameter, splitOperator(parameter, ['IS', 'IS_ANY_OF'])[1]);

const parseIds =
  (entities: 'events' | 'users') =>
  (parameter: Parameter): readonly number[] =>
    parseValues(parameter).map((value) => {
      const id = parseId(value);
      if (id === undefined) throw invalidParameter(parameter, `list ids of ${entities}`);
      return id;
    });

const parseDayFilter = (parameter: Parameter): Date => parseDay(parameter, splitOperator(parameter, ['IS'])[1]);

/**
 * Parses the filters of an event search: `IS:` and `IS_ANY_OF:` lists, days in UTC.
 * @throws Refusal `ValidationError` that names the parameter at fault.
 */
export const parseEventFilters = (query: SearchParameters): EventFilters => {
  const read = parameterParser(query);
  const lastDay = read('to', parseDayFilter);
  return {
    ids: read('id', parseIds('events')),
    groups: read('groupId', parseValues),
    text: read('query', ({ text }) => text),
    types: read('type', parseValues),
    projects: read('project', parseValues),
    features: read('feature', parseValues),
    environments: read('environment', parseValues),
    creators: read('createdBy', parseIds('users')),
    notBefore: read('from', parseDayFilter),
    before: lastDay === undefined ? undefined : new Date(lastDay.getTime() + dayMs),
  };
};
