import { invalid, type Refusal, requireStorableText } from '@bunting/contracts';

/** The unparsed parameters of a search. */
export interface EventParameters {
  readonly id?: string | undefined;
  readonly query?: string | undefined;
  readonly type?: string | undefined;
  readonly project?: string | undefined;
  readonly feature?: string | undefined;
  readonly environment?: string | undefined;
  readonly createdBy?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: string | undefined;
  readonly offset?: string | undefined;
  readonly limit?: string | undefined;
}

/** The parsed filters. */
export interface EventFilters {
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  readonly text?: string | undefined;
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  readonly creators?: readonly number[] | undefined;
  readonly notBefore?: Date | undefined;
  readonly before?: Date | undefined;
}

const maxParameterLength = 4_096;
const maxValues = 200;
const dayMs = 24 * 60 * 60 * 1_000;

type Name = keyof EventParameters;

const invalidParameter = (name: Name, text: string, must: string): Refusal => {
  const shown = JSON.stringify(text.length > 100 ? `${text.slice(0, 100).toWellFormed()}…` : text);
  return invalid(`The \`/query/${name}\` property must ${must}. You sent ${shown}.`, `/query/${name}`);
};

/** The operand of a filter whose operator is one of `operators`. */
const afterOperator = (name: Name, text: string, ...operators: readonly string[]): string => {
  const colon = text.indexOf(':');
  if (!operators.includes(text.slice(0, Math.max(colon, 0)))) {
    throw invalidParameter(name, text, `begin with ${operators.join(' or ')}, and a colon`);
  }
  return text.slice(colon + 1);
};

/** The values of `IS:` and `IS_ANY_OF:`; undefined without the parameter. */
const parseValues = (name: Name, text: string | undefined): readonly string[] | undefined => {
  if (text === undefined) return undefined;
  const values = afterOperator(name, text, 'IS', 'IS_ANY_OF')
    .split(',')
    .map((value) => value.trim());
  if (values.includes('')) throw invalidParameter(name, text, 'list at least one value, and none that is empty');
  if (values.length > maxValues) throw invalidParameter(name, text, `list at most ${maxValues} values`);
  return [...new Set(values)];
};

/** Ids; of users the system and tokens have negative ones. */
const parseIds = (name: Name, text: string | undefined, of: 'events' | 'users'): readonly number[] | undefined =>
  parseValues(name, text)?.map((value) => {
    if (/^-?\d{1,15}$/.test(value)) return Number(value);
    throw invalidParameter(name, text ?? '', `list ids of ${of}`);
  });

/** The start of the day, UTC. */
const parseDay = (name: Name, text: string | undefined): Date | undefined => {
  if (text === undefined) return undefined;
  const day = afterOperator(name, text, 'IS');
  const midnight = new Date(/^\d{4}-\d{2}-\d{2}$/.test(day) ? `${day}T00:00:00.000Z` : Number.NaN);
  // The 30th of February would be a day in March.
  if (Number.isNaN(midnight.getTime()) || midnight.toISOString().slice(0, 10) !== day)
    throw invalidParameter(name, text, 'end with a date of the calendar, written YYYY-MM-DD');
  return midnight;
};

const parseInteger = (name: Name, text: string | undefined, min: number, max: number, otherwise: number): number => {
  if (text === undefined) return otherwise;
  const number = /^\d{1,16}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw invalidParameter(name, text, `be a whole number from ${min} to ${max}`);
};

/**
 * Parses the filters of an event search: `IS:` and `IS_ANY_OF:` lists, days in UTC.
 * @throws Refusal `ValidationError` that names the parameter at fault.
 */
export const parseEventFilters = (parameters: EventParameters): EventFilters => {
  for (const [name, text] of Object.entries(parameters)) {
    if (text === undefined) continue;
    if (text.length > maxParameterLength)
      throw invalidParameter(name as Name, text, `be at most ${maxParameterLength} characters long`);
    requireStorableText(text, `/query/${name}`);
  }
  const { id, query, type, project, feature, environment, createdBy, from, to } = parameters;
  const lastDay = parseDay('to', to);
  return {
    ids: parseIds('id', id, 'events'),
    text: query,
    types: parseValues('type', type),
    projects: parseValues('project', project),
    features: parseValues('feature', feature),
    environments: parseValues('environment', environment),
    creators: parseIds('createdBy', createdBy, 'users'),
    notBefore: parseDay('from', from),
    before: lastDay === undefined ? undefined : new Date(lastDay.getTime() + dayMs),
  };
};

/** Parses offset and limit. */
export const parsePage = ({ offset, limit }: EventParameters): { readonly skip: number; readonly limit: number } => ({
  skip: parseInteger('offset', offset, 0, Number.MAX_SAFE_INTEGER, 0),
  limit: parseInteger('limit', limit, 1, 1_000, 50),
});
