import type { Statement } from '@bunting/database';
import { type Columns, type Criteria, nameOf, projectsLeft, type TextPlace } from './criteria.ts';
import { digestOf, type Kind, kinds } from './event-index.ts';
import { where } from './found-events.ts';
import { type Found, type Matches, matchesIn, withLater } from './matches.ts';
import { idsIn, intersect, removeUpTo } from './postings.ts';
import { patternOf, textCondition, wordsOf } from './text-statements.ts';

/** What the index answers: for the text, and for each column that something is asked of, where it occurs. */
export interface Indexed {
  readonly upTo: number;
  readonly uid: string | null;
  readonly droppedId: number;
  readonly indexedTo: number;
  readonly text: Buffer | null;
  readonly columns: readonly (string | null)[];
  readonly tail: Pick<Found, 'words' | 'bits'>;
}

/** The columns that the index knows; undefined where something else is asked. */
export const indexedColumns = (criteria: Criteria): readonly (readonly string[])[] | undefined => {
  const { types, features, environments, creators, notBefore, before, visible } = criteria;
  const projects = projectsLeft(criteria);
  if ([environments, creators, notBefore, before].some((asked) => asked !== undefined)) return undefined;
  // Postings say where something occurs, and not where it does not.
  if (projects === undefined && visible.hiddenProjects.length > 0) return undefined;
  const digests = (kind: Kind, values: readonly string[] | undefined) =>
    values === undefined ? [] : [values.map((value) => digestOf(kind, value))];
  return [
    ...digests(kinds.type, types),
    ...digests(kinds.project, projects),
    ...digests(kinds.feature, features),
    ...(projects === undefined && !visible.ofNoProject ? [[digestOf(kinds.anyProject, '')]] : []),
  ];
};

// Postings name their row and their length, so that they can be put one after the other in whatever order.
const postings = (parts: string): string =>
  `(select string_agg(int8send(seq) || int4send(length(data)) || data, ''::bytea) from event_posting where part = any(array(${parts})))`;

/** Everything that a first look needs, of one moment. Values: those of the columns, the pattern, and digests by column. */
export const indexedStatement = (columns: Columns, place: TextPlace, lists: number): Statement => {
  const pattern = `$${columns.values.length + 1}`;
  const kind = place === 'anywhere' ? 'kind < 2' : `kind = ${kinds.data}`;
  const asked = Array.from({ length: lists }, (_, nth) => {
    const digests = `$${columns.values.length + 2 + nth}::uuid[]`;
    return `encode(${postings(`select id from event_part where digest = any(${digests})`)}, 'base64')`;
  });
  const inTail = where('id >= indexed.indexed_to', ...columns.conditions, textCondition(columns, pattern));
  return {
    name: nameOf(`events-indexed-${lists}`, columns),
    text: `
      select head.id as "upTo", head.uid, head.dropped_id as "droppedId", indexed.indexed_to as "indexedTo",
        ${postings(`select id from event_part where ${kind} and text like ${pattern}`)} as text,
        json_build_array(${asked.join(', ')}) as columns,
        (select json_build_object('words', words, 'bits', bits) from (${wordsOf(`select id from event_search ${inTail}`)}) as found) as tail
      from event_log_head as head cross join event_index_head as indexed`,
  };
};

export const indexedValues = (
  columns: Columns,
  text: string,
  lists: readonly (readonly string[])[],
): readonly unknown[] => [...columns.values, patternOf(text), ...lists];

/** Where the text was found, as a first look through the log would have found it. */
export const indexedMatches = ({ upTo, uid, droppedId, indexedTo, text, columns, tail }: Indexed): Matches => {
  const ids = idsIn(text, indexedTo);
  for (const rows of columns) intersect(ids, idsIn(rows === null ? null : Buffer.from(rows, 'base64'), indexedTo));
  removeUpTo(ids, droppedId);
  const length = ids.reduce((words, word) => (word === 0 ? words : words + 1), 0);
  const words = new Uint32Array(length);
  const bits = new Uint32Array(length);
  let nth = 0;
  for (const [word, within] of ids.entries()) {
    if (within === 0) continue;
    words[nth] = word;
    bits[nth++] = within;
  }
  const until = { upTo, uid, droppedId };
  return withLater(matchesIn({ ...until, words, bits }), { ...until, ...tail });
};
