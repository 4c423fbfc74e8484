import { eventTypes, foldForSearch } from '@bunting/contracts';
import { escapeLike } from '@bunting/database';
import { creatorSeparator } from '../../domain/searchable-text.ts';
import type { EventVisibility } from '../../domain/event-visibility.ts';

/** Criteria of a search. All must match that are present; a list matches if one of its values does. */
export interface EventCriteria {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
  /** types that no event may have */
  readonly excludedTypes?: readonly string[] | undefined;
  /** ids that several events of one act have */
  readonly groups?: readonly string[] | undefined;
  /** ids of events */
  readonly ids?: readonly number[] | undefined;
  /** ids of the users who caused the events */
  readonly creators?: readonly number[] | undefined;
  /** the start of a day, UTC */
  readonly notBefore?: Date | undefined;
  /** the start of a day, UTC */
  readonly before?: Date | undefined;
  /** a substring, compared without regard to case; an empty one is no criterion */
  readonly text?: string | undefined;
  /** where the text must be: anywhere (the default), or only in the events' data and tags */
  readonly textIn?: 'anywhere' | 'data' | undefined;
  readonly visible: EventVisibility;
}

/** Criteria as SQL: conditions on `event_search`, in which `$1` is the first of the values. */
export interface SearchConditions {
  readonly sql: readonly string[];
  readonly values: readonly unknown[];
  /** the same conditions in a form that the text index does not serve, to read events by their ids */
  readonly withoutTextIndex: readonly string[];
  /** whether the texts of all candidate events must be read */
  readonly readsTexts: boolean;
}

/** A `where` clause of conditions that must all hold. */
export const whereClause = (...conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;

/**
 * The length in characters of the excerpts of a long text, which are searched in the trigram index instead of the text. The index reads a
 * list for every three characters of the text, and the lists beyond those of the excerpts hardly ever narrow the result further.
 */
const excerptLength = 6;

/**
 * The excerpts of a text that are searched in the trigram index: the start, the end and, if the text is longer than three excerpts, the
 * middle; none for a text of at most two excerpts.
 */
const excerptsOf = (text: string): readonly string[] => {
  const characters = Array.from(text);
  const { length } = characters;
  if (length <= 2 * excerptLength) return [];
  const starts = [0, ...(length > 3 * excerptLength ? [(length - excerptLength) >> 1] : []), length - excerptLength];
  return starts.map((start) => characters.slice(start, start + excerptLength).join(''));
};

/** The `like` pattern of rows that contain a text literally: in the data alone or anywhere. */
const patternOf = (text: string, textIn: EventCriteria['textIn']): string =>
  `${textIn === 'data' ? `%${creatorSeparator}` : ''}%${escapeLike(text)}%`;

/** SQL: the day, UTC, of a timestamp. */
const dayOf = (timestamp: string): string => `(${timestamp}::timestamptz at time zone 'UTC')::date`;

export const searchConditions = (criteria: EventCriteria): SearchConditions => {
  const sql: string[] = [];
  const values: unknown[] = [];
  const bind = (value: unknown): string => `$${values.push(value)}`;
  const addAnyOf = (column: string, type: string, accepted: readonly unknown[] | undefined): void => {
    if (accepted !== undefined) sql.push(`${column} = any(${bind(accepted)}::${type}[])`);
  };
  const {
    types,
    excludedTypes,
    groups,
    features,
    environments,
    ids,
    creators,
    notBefore,
    before,
    textIn = 'anywhere',
  } = criteria;
  const { ofNoProject, hiddenProjects } = criteria.visible;
  const isHidden = new Set(hiddenProjects);
  addAnyOf(
    'project',
    'text',
    criteria.projects?.filter((project) => !isHidden.has(project)),
  );
  if (criteria.projects === undefined && !ofNoProject) sql.push('project is not null');
  if (criteria.projects === undefined && hiddenProjects.length > 0)
    sql.push(`(project is null or project <> all(${bind(hiddenProjects)}::text[]))`);
  addAnyOf('type', 'text', types);
  if (excludedTypes !== undefined) sql.push(`type <> all(${bind(excludedTypes)}::text[])`);
  if (groups !== undefined)
    sql.push(`id in (select id from event where group_id is not null and group_id = any(${bind(groups)}::text[]))`);
  addAnyOf('feature_name', 'text', features);
  addAnyOf('id', 'bigint', ids);
  addAnyOf('environment', 'text', environments);
  addAnyOf('created_by_user_id', 'bigint', creators);
  if (notBefore !== undefined) sql.push(`day >= ${dayOf(bind(notBefore))}`);
  if (before !== undefined) sql.push(`day < ${dayOf(bind(before))}`);
  const text = foldForSearch(criteria.text ?? '');
  if (text === '') return { sql, values, withoutTextIndex: sql, readsTexts: false };

  const matchingTypes = textIn === 'data' ? [] : eventTypes.filter((type) => type.includes(text));
  const orType = matchingTypes.length === 0 ? '' : ` or type = any(${bind(matchingTypes)}::text[])`;
  const pattern = bind(patternOf(text, textIn));
  const excerptPatterns = excerptsOf(text).map((excerpt) => bind(patternOf(excerpt, textIn)));
  // No index has this expression, so it is evaluated on the rows that the other conditions select.
  const unindexed = `text || '' like ${pattern}`;
  const indexed =
    excerptPatterns.length === 0
      ? `text like ${pattern}`
      : [...excerptPatterns.map((excerpt) => `text like ${excerpt}`), unindexed].join(' and ');
  return {
    sql: [...sql, `(${indexed}${orType})`],
    values,
    withoutTextIndex: [...sql, `(${unindexed}${orType})`],
    readsTexts: true,
  };
};
