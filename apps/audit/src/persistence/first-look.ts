import type { Statement } from '@bunting/database';
import { type Columns, type Criteria, nameOf, patternOf, projectsLeft } from './criteria.ts';
import { digestOf, type Kind, kinds } from './event-index.ts';
import { where } from './found-events.ts';
import { wordsOf } from './looks.ts';
import { type Found, type Matches, matchesIn, withLater } from './matches.ts';
import { allIds, idsIn, intersect, removeUpTo, subtract } from './postings.ts';

/** Terms of which a match has one, or, where they are of what is hidden, none. */
interface Terms {
  /** what identifies them in `event_term`; `?` stands for each value */
  readonly condition: string;
  readonly values: readonly unknown[];
  readonly hidden?: true;
}

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

/** What the index is asked for, in the order in which the statement asks. */
const termsOf = (criteria: Criteria): readonly Terms[] => {
  const { types, features, environments, creators, notBefore, before, text = '', textIn, visible } = criteria;
  const projects = projectsLeft(criteria);
  const terms: Terms[] = [];
  const among = (
    kind: Kind,
    wanted: readonly (string | number)[] | undefined,
    hidden: { hidden?: true } = {},
  ): void => {
    if (wanted === undefined) return;
    const digests = wanted.map((value) => digestOf(kind, String(value)));
    terms.push({ condition: 'digest = any(?::uuid[])', values: [digests], ...hidden });
  };
  if (text !== '') {
    const kind = textIn === 'data' ? `kind = ${kinds.data}` : 'kind < 2';
    terms.push({ condition: `${kind} and text like ?`, values: [patternOf(text)] });
  }
  among(kinds.type, types);
  among(kinds.project, projects);
  among(kinds.feature, features);
  among(kinds.environment, environments);
  among(kinds.creator, creators);
  if (notBefore !== undefined || before !== undefined) {
    const first = notBefore === undefined ? '' : dayOf(notBefore);
    const last = before === undefined ? '9999-12-31' : dayOf(new Date(before.getTime() - 1));
    const condition = `kind = ${kinds.day} and text collate "C" >= ? and text collate "C" <= ?`;
    terms.push({ condition, values: [first, last] });
  }
  if (projects !== undefined) return terms;
  if (!visible.ofNoProject) among(kinds.anyProject, ['']);
  if (visible.hiddenProjects.length > 0) among(kinds.project, visible.hiddenProjects, { hidden: true });
  return terms;
};

/** What a first look answers. */
export interface FirstLook {
  readonly upTo: number;
  readonly uid: string | null;
  readonly droppedId: number;
  readonly indexedTo: number;
  readonly tail: Pick<Found, 'words' | 'bits'>;
  /** where the terms occur that the index was asked for */
  readonly [rows: `rows${number}`]: string | null;
}

/** A first look through the log, all of it of one moment: what the index knows, and what it has not come to yet. */
export const firstLook = (
  criteria: Criteria,
  columns: Columns,
): { statement: Statement; values: readonly unknown[] } => {
  const values = [...columns.values];
  const rows = termsOf(criteria).map(({ condition, values: asked }, nth) => {
    let next = 0;
    const terms = condition.replaceAll('?', () => `$${values.push(asked[next++])}`);
    // Texts that belong together often occur in the same events, and then their rows are alike.
    const once = condition.includes('like') ? 'group by data' : '';
    return `(select string_agg(data, '') from (
      select data from event_term_posting where term = any(array(select id from event_term where ${terms})) ${once})
      as posting) as rows${nth}`;
  });
  const tail = wordsOf(`select id from ${columns.table} ${where('id >= indexed.indexed_to', ...columns.conditions)}`);
  const text = `
    select head.id as "upTo", head.uid, head.dropped_id as "droppedId", indexed.indexed_to as "indexedTo",
      (select json_build_object('words', words, 'bits', bits) from (${tail}) as found) as tail
      ${rows.map((row) => `, ${row}`).join('')}
    from event_log_head as head cross join event_term_head as indexed`;
  return { statement: { name: nameOf('events-first-look', columns), text }, values };
};

/** Which events match, by what a first look for the same criteria answered. */
export const matchesOf = (criteria: Criteria, found: FirstLook): Matches => {
  const { upTo, uid, droppedId, indexedTo, tail } = found;
  const ids = allIds(indexedTo);
  for (const [nth, { hidden }] of termsOf(criteria).entries()) {
    (hidden ? subtract : intersect)(ids, idsIn(found[`rows${nth}`] ?? null, indexedTo));
  }
  removeUpTo(ids, droppedId);
  let length = 0;
  for (let word = 0; word < ids.length; word++) if (ids[word] !== 0) length++;
  const words = new Uint32Array(length);
  const bits = new Uint32Array(length);
  let nth = 0;
  for (let word = 0; word < ids.length; word++) {
    if (ids[word] === 0) continue;
    words[nth] = word;
    bits[nth++] = ids[word] as number;
  }
  const until = { upTo, uid, droppedId };
  return withLater(matchesIn({ ...until, words, bits }), { ...until, ...tail });
};
