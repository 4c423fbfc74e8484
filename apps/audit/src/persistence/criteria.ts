import type { VisibleEvents } from '../domain/visible-events.ts';

/** Which events are looked for; all that is given must hold, and of each list one value will do. */
export interface Criteria {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** ids of the users who caused them */
  readonly creators?: readonly number[] | undefined;
  readonly notBefore?: Date | undefined;
  readonly before?: Date | undefined;
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
  creators: 'cs',
  'not-before': 'nb',
  before: 'b',
  'in-data': 'd',
} as const;
type Ask = keyof typeof asked;

/** The name of a statement with these columns. */
export const nameOf = (statement: string, { asks }: Pick<Columns, 'asks'>): string =>
  [statement, ...asks.map((ask) => asked[ask])].join('-');

/** What criteria ask of columns. The values come first in a statement: `$1` is the first of them. */
export interface Columns {
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

/** What only the log itself knows of an event, and not the narrow table that is searched. */
const inLog = (condition: string): string =>
  `exists (select 1 from event where event.id = event_search.id and ${condition})`;

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
  const { types, features, environments, creators, notBefore, before } = criteria;
  const projects = projectsLeft(criteria);
  among('project', 'projects', 'project', projects);
  const { ofNoProject, hiddenProjects } = criteria.visible;
  if (projects === undefined && !ofNoProject) ask('any-project', () => 'project is not null');
  if (projects === undefined && hiddenProjects.length > 0)
    ask('not-hidden', (place) => `(project is null or project <> all(${place}::text[]))`, hiddenProjects);
  among('type', 'types', 'type', types);
  among('feature', 'features', 'feature_name', features);
  if (environments !== undefined)
    ask('environments', (place) => inLog(`event.environment = any(${place}::text[])`), environments);
  if (creators !== undefined)
    ask('creators', (place) => inLog(`event.created_by_user_id = any(${place}::bigint[])`), creators);
  if (notBefore !== undefined)
    ask('not-before', (place) => inLog(`event.created_at >= ${place}::timestamptz`), notBefore);
  if (before !== undefined) ask('before', (place) => inLog(`event.created_at < ${place}::timestamptz`), before);
  return { asks, conditions, places, values };
};

/** Where events may be found by a text: anywhere, or only in their data and tags. */
export type TextPlace = 'anywhere' | 'data';

/** The columns of a search by text, which is another one when it looks elsewhere. */
export const textColumnsOf = (criteria: Criteria, place: TextPlace): Columns => {
  const columns = columnsOf(criteria);
  return place === 'anywhere' ? columns : { ...columns, asks: [...columns.asks, 'in-data'] };
};
