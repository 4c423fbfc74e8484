import { folded } from '../domain/searchable-text.ts';
import type { VisibleEvents } from '../domain/visible-events.ts';

/** Which events are looked for; all that is given must hold, and of each list one value will do. */
export interface Criteria {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  /** ids of the users who caused them */
  readonly creators?: readonly number[] | undefined;
  /** a day, UTC, by its first moment */
  readonly notBefore?: Date | undefined;
  /** a day, UTC, by its first moment */
  readonly before?: Date | undefined;
  /** a text that is found as it stands, in upper or lower case; an empty one says nothing */
  readonly text?: string | undefined;
  /** where the text must be: anywhere, when left out, or only in their data and tags */
  readonly textIn?: 'anywhere' | 'data' | undefined;
  readonly visible: VisibleEvents;
}

/** What may be asked, each with what stands for it in the name of a statement, of which PostgreSQL keeps 63 characters. */
const asked = {
  project: 'p',
  projects: 'ps',
  'any-project': 'ap',
  'not-hidden': 'nh',
  type: 't',
  types: 'ts',
  feature: 'f',
  features: 'fs',
  environments: 'es',
  ids: 'is',
  creators: 'cs',
  'not-before': 'nb',
  before: 'b',
  text: 'x',
  'text-in-data': 'd',
} as const;
type Ask = keyof typeof asked;

/** What only the log itself knows of an event, and not the narrow table that is searched. */
const onlyInLog: readonly Ask[] = ['environments', 'creators', 'not-before', 'before'];

/** The name of a statement with these columns. */
export const nameOf = (statement: string, { asks }: Pick<Columns, 'asks'>): string =>
  [statement, ...asks.map((ask) => asked[ask])].join('-');

/** What criteria ask of the columns of a table. The values come first in a statement: `$1` is the first of them. */
export interface Columns {
  /** which of both to read: the narrow one, where it knows enough */
  readonly table: 'event' | 'event_search';
  /** in the order of their conditions; equal asks make equal statements */
  readonly asks: readonly Ask[];
  readonly conditions: readonly string[];
  /** where the value of each stands; empty for one that has none */
  readonly places: readonly string[];
  readonly values: readonly unknown[];
}

/** The projects that are left to look at; undefined where no single ones are meant. */
export const projectsLeft = ({ projects, visible }: Criteria): readonly string[] | undefined =>
  projects?.filter((project) => !visible.hiddenProjects.includes(project));

/** A pattern for `like` that finds the text as it stands. */
export const patternOf = (text: string): string => `%${folded(text).replace(/[\\%_]/g, '\\$&')}%`;

/** What follows the type and who caused it; of what was stored by an earlier version all, which had them in one. */
const dataOf = (text: string): string =>
  `case when strpos(${text}, e'\\x1e') > 0 then split_part(${text}, e'\\x1e', 2) else ${text} end`;

export const columnsOf = (criteria: Criteria): Columns => {
  const asks: Ask[] = [];
  const conditions: string[] = [];
  const places: string[] = [];
  const values: unknown[] = [];
  const ask = (name: Ask, condition: (place: string) => string, ...value: readonly unknown[]): void => {
    const place = value.length === 0 ? '' : `$${values.push(...value)}`;
    asks.push(name);
    places.push(place);
    conditions.push(condition(place));
  };
  const among = (one: Ask, several: Ask, column: string, wanted: readonly string[] | undefined): void => {
    if (wanted?.length === 1) ask(one, (place) => `${column} = ${place}`, wanted[0]);
    else if (wanted !== undefined) ask(several, (place) => `${column} = any(${place}::text[])`, [...new Set(wanted)]);
  };
  const { ids, types, features, environments, creators, notBefore, before, text = '', textIn } = criteria;
  const projects = projectsLeft(criteria);
  among('project', 'projects', 'project', projects);
  const { ofNoProject, hiddenProjects } = criteria.visible;
  if (projects === undefined && !ofNoProject) ask('any-project', () => 'project is not null');
  if (projects === undefined && hiddenProjects.length > 0)
    ask('not-hidden', (place) => `(project is null or project <> all(${place}::text[]))`, hiddenProjects);
  among('type', 'types', 'type', types);
  among('feature', 'features', 'feature_name', features);
  if (ids !== undefined) ask('ids', (place) => `id = any(${place}::bigint[])`, ids);
  if (environments !== undefined) ask('environments', (place) => `environment = any(${place}::text[])`, environments);
  if (creators !== undefined) ask('creators', (place) => `created_by_user_id = any(${place}::bigint[])`, creators);
  if (notBefore !== undefined) ask('not-before', (place) => `created_at >= ${place}::timestamptz`, notBefore);
  if (before !== undefined) ask('before', (place) => `created_at < ${place}::timestamptz`, before);
  const inLog = asks.some((name) => onlyInLog.includes(name));
  const found = inLog ? '(select text from event_search where event_search.id = event.id)' : 'text';
  if (text !== '' && textIn === 'data')
    ask('text-in-data', (place) => `${dataOf(found)} like ${place}`, patternOf(text));
  else if (text !== '') ask('text', (place) => `${found} like ${place}`, patternOf(text));
  return { table: inLog ? 'event' : 'event_search', asks, conditions, places, values };
};
