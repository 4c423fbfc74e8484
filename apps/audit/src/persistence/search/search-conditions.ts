import { eventTypes, foldCase } from '@bunting/contracts';
import { escapeLike } from '@bunting/database';
import { creatorSeparator } from '../../domain/searchable-text.ts';
import type { EventVisibility } from '../../domain/event-visibility.ts';

/** Criteria of a search. All must match that are present; a list matches if one of its values does. */
export interface EventCriteria {
  readonly types?: readonly string[] | undefined;
  readonly projects?: readonly string[] | undefined;
  readonly features?: readonly string[] | undefined;
  readonly environments?: readonly string[] | undefined;
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
  readonly readTexts: boolean;
}

/** A `where` clause of conditions that must all hold. */
export const whereClause = (...conditions: readonly string[]): string =>
  conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`;

/**
 * Of a text that is longer than twice this number of letters the trigram index compares so many letters at the start and at the end, and if
 * it is longer than three times this number, also so many in the middle. The index reads a list for every three letters, and the other
 * letters hardly ever narrow the result further.
 */
const indexedLetters = 6;

/** The excerpts of a long text that the trigram index compares; none for a shorter text. */
const indexedPartsOf = (text: string): readonly string[] => {
  const letters = Array.from(text);
  const { length } = letters;
  if (length <= 2 * indexedLetters) return [];
  const starts = [0, ...(length > 3 * indexedLetters ? [(length - indexedLetters) >> 1] : []), length - indexedLetters];
  return starts.map((start) => letters.slice(start, start + indexedLetters).join(''));
};

/** A `like` pattern for a text, taken literally, in the data alone or anywhere. */
const patternOf = (text: string, textIn: EventCriteria['textIn']): string =>
  `${textIn === 'data' ? `%${creatorSeparator}` : ''}%${escapeLike(text)}%`;

/** SQL: the day, UTC, of a timestamp. */
const dayOf = (moment: string): string => `(${moment}::timestamptz at time zone 'UTC')::date`;

export const searchConditions = (criteria: EventCriteria): SearchConditions => {
  const sql: string[] = [];
  const values: unknown[] = [];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const oneOf = (column: string, type: string, wanted: readonly unknown[] | undefined): void => {
    if (wanted !== undefined) sql.push(`${column} = any(${place(wanted)}::${type}[])`);
  };
  const { types, features, environments, ids, creators, notBefore, before, textIn = 'anywhere' } = criteria;
  const { ofNoProject, hiddenProjects } = criteria.visible;
  const isHidden = new Set(hiddenProjects);
  oneOf(
    'project',
    'text',
    criteria.projects?.filter((project) => !isHidden.has(project)),
  );
  if (criteria.projects === undefined && !ofNoProject) sql.push('project is not null');
  if (criteria.projects === undefined && hiddenProjects.length > 0)
    sql.push(`(project is null or project <> all(${place(hiddenProjects)}::text[]))`);
  oneOf('type', 'text', types);
  oneOf('feature_name', 'text', features);
  oneOf('id', 'bigint', ids);
  oneOf('environment', 'text', environments);
  oneOf('created_by_user_id', 'bigint', creators);
  if (notBefore !== undefined) sql.push(`day >= ${dayOf(place(notBefore))}`);
  if (before !== undefined) sql.push(`day < ${dayOf(place(before))}`);
  const text = foldCase(criteria.text ?? '');
  if (text === '') return { sql, values, withoutTextIndex: sql, readTexts: false };

  const ofTypes = textIn === 'data' ? [] : eventTypes.filter((type) => type.includes(text));
  const orType = ofTypes.length === 0 ? '' : ` or type = any(${place(ofTypes)}::text[])`;
  const pattern = place(patternOf(text, textIn));
  const parts = indexedPartsOf(text).map((part) => place(patternOf(part, textIn)));
  // No index has this expression.
  const whole = `text || '' like ${pattern}`;
  const indexed =
    parts.length === 0 ? `text like ${pattern}` : [...parts.map((part) => `text like ${part}`), whole].join(' and ');
  return {
    sql: [...sql, `(${indexed}${orType})`],
    values,
    withoutTextIndex: [...sql, `(${whole}${orType})`],
    readTexts: true,
  };
};
