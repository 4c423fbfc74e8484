import type { Statement } from '@bunting/database';
import { folded } from '../domain/searchable-text.ts';
import { type Columns, type Criteria, nameOf, projectsLeft } from './criteria.ts';
import { where } from './found-events.ts';
import { mostRead, wordsOf } from './looks.ts';
import { type Found, type Matches, matchesIn } from './matches.ts';
import { allIds, type IdSet, idsIn, intersect, removeUpTo, subtract, unite } from './postings.ts';
import { digestOf, type Kind, kinds, termsHolding, type TermsAsked, termsOfDays } from './terms.ts';

/** Terms of which it is remembered, all of them together, in which events they occur. */
export interface Terms {
  readonly asked: TermsAsked;
  /** what tells them from others */
  readonly key: string;
}

/** A match has one of all these terms, or, where they are of what is hidden, none. */
interface Condition {
  readonly anyOf: readonly Terms[];
  readonly hidden: boolean;
}

/** So many values are remembered each by itself: others ask for them in another combination. */
const mostByThemselves = 8;

const dayOf = (moment: Date): string => moment.toISOString().slice(0, 10);

const termsOf = (asked: TermsAsked): Terms => ({ asked, key: JSON.stringify(asked) });

/** What the index is asked for, in the order in which the statement asks. */
export const conditionsOf = (criteria: Criteria): readonly Condition[] => {
  const { types, features, environments, creators, notBefore, before, text = '', textIn, visible } = criteria;
  const projects = projectsLeft(criteria);
  const conditions: Condition[] = [];
  const among = (kind: Kind, wanted: readonly (string | number)[] | undefined, hidden = false): void => {
    if (wanted === undefined) return;
    const digests = [...new Set(wanted.map((value) => digestOf(kind, String(value))))];
    const together = digests.length > mostByThemselves ? [digests.sort()] : digests.map((digest) => [digest]);
    conditions.push({ anyOf: together.map((some) => termsOf({ digests: some })), hidden });
  };
  if (text !== '') {
    conditions.push({ anyOf: [termsOf(termsHolding(folded(text), textIn ?? 'anywhere'))], hidden: false });
  }
  among(kinds.type, types);
  among(kinds.project, projects);
  among(kinds.feature, features);
  among(kinds.environment, environments);
  among(kinds.creator, creators);
  if (notBefore !== undefined || before !== undefined) {
    const first = notBefore === undefined ? '' : dayOf(notBefore);
    const last = before === undefined ? '9999-12-31' : dayOf(new Date(before.getTime() - 1));
    conditions.push({ anyOf: [termsOf(termsOfDays(first, last))], hidden: false });
  }
  if (projects !== undefined) return conditions;
  if (!visible.ofNoProject) among(kinds.anyProject, ['']);
  if (visible.hiddenProjects.length > 0) among(kinds.project, visible.hiddenProjects, true);
  return conditions;
};

/** In which events terms occur, as a look found it. */
export interface KnownIds {
  readonly ids: IdSet;
  /** below which id, which begins a block */
  readonly indexedTo: number;
  /** the last event of the log then: another one there means another log */
  readonly upTo: number;
  readonly uid: string | null;
}

/** Terms, and in which events they occur, where that is known already. */
export interface Asked {
  readonly terms: Terms;
  readonly known: KnownIds | undefined;
}

/** What a first look answers. */
export interface FirstLook {
  readonly upTo: number;
  readonly uid: string | null;
  readonly droppedId: number;
  readonly indexedTo: number;
  /** whether what was known holds, and is of late enough; when not, nothing else that is answered counts */
  readonly goesOn: boolean;
  readonly tail: Pick<Found, 'words' | 'bits'>;
  /** where terms occur that were asked for by their digests */
  readonly ofDigests: Readonly<Record<string, string>> | null;
  /** where terms occur that were asked for by a condition */
  readonly text?: string | null;
  readonly days?: string | null;
}

const knownOf = (asked: readonly Asked[]): readonly KnownIds[] => asked.flatMap(({ known }) => known ?? []);

/**
 * A first look through the log, all of it of one moment: what the index knows of terms of which nothing is known, and what
 * it has not come to yet, or had not when it was asked for the others.
 */
export const firstLook = (
  columns: Columns,
  asked: readonly Asked[],
): { statement: Statement; values: readonly unknown[] } => {
  const values = [...columns.values];
  const place = (value: unknown): string => `$${values.push(value)}`;
  const unknown = asked.filter(({ known }) => known === undefined).map(({ terms }) => terms.asked);
  const digests = place(unknown.flatMap((terms) => ('digests' in terms ? terms.digests : [])));
  // A statement has the same name only where it has the same text.
  const shapes: string[] = [];
  const rows = unknown.map((terms) => {
    if ('digests' in terms) return '';
    shapes.push(`${terms.of}${terms.values.length}`);
    let next = 0;
    const which = terms.condition.replaceAll('?', () => place(terms.values[next++]));
    // Texts that belong together often occur in the same events, and then their rows are alike.
    return `, (select string_agg(data, '') from (
      select data from search_posting where term = any(array(select id from search_term where ${which})) group by data)
      as posting) as ${terms.of}`;
  });
  const known = knownOf(asked);
  let from = 'indexed.indexed_to';
  let goesOn = 'true';
  if (known.length > 0) {
    const last = known.reduce((one, other) => (other.upTo > one.upTo ? other : one));
    from = `least(${from}, ${place(Math.min(...known.map(({ indexedTo }) => indexedTo)))}::bigint)`;
    goesOn = `head.id - ${from} <= ${mostRead}
      and exists (select 1 from event where id = ${place(last.upTo)}::bigint and uid = ${place(last.uid)}::uuid)`;
  }
  const tail = wordsOf(
    `select id from ${columns.table} ${where('known.holds', 'id >= known.until', ...columns.conditions)}`,
  );
  const text = `
    select head.id as "upTo", head.uid, head.dropped_id as "droppedId", indexed.indexed_to as "indexedTo", known.holds as "goesOn",
      (select json_build_object('words', words, 'bits', bits) from (${tail}) as found) as tail,
      (select json_object_agg(digest, data) from (
        select replace(digest::text, '-', '') as digest, string_agg(data, '') as data
        from search_term join search_posting on term = id where digest = any(${digests}::uuid[]) group by 1
      ) as found) as "ofDigests"
      ${rows.join('')}
    from event_log_head as head cross join search_head as indexed
    cross join lateral (select ${from} as until, ${goesOn} as holds offset 0) as known`;
  return {
    statement: { name: [nameOf('first', columns), ...(known.length > 0 ? ['known'] : []), ...shapes].join('-'), text },
    values,
  };
};

/** What the index said of where terms occur. */
export const postingsOf = ({ asked }: Terms, found: FirstLook): string =>
  'digests' in asked
    ? asked.digests.map((digest) => found.ofDigests?.[digest] ?? '').join('')
    : (found[asked.of] ?? '');

/** In which events terms occur of which it was not known, as far as the index knows. */
export const idsOf = (postings: string, { indexedTo, upTo, uid }: FirstLook): KnownIds => ({
  ids: idsIn(postings, indexedTo),
  indexedTo,
  upTo,
  uid,
});

/** Which events match all conditions, by where their terms occur, one after the other, and by what the look answered. */
export const matchesOf = (conditions: readonly Condition[], all: readonly KnownIds[], found: FirstLook): Matches => {
  const ids = allIds(Math.min(found.indexedTo, ...all.map(({ indexedTo }) => indexedTo)));
  let next = 0;
  for (const { anyOf, hidden } of conditions) {
    const sets = anyOf.map(() => (all[next++] as KnownIds).ids);
    if (hidden) for (const set of sets) subtract(ids, set);
    else if (sets.length === 1) intersect(ids, sets[0] as IdSet);
    else {
      const any = new Uint32Array(ids.length);
      for (const set of sets) unite(any, set);
      intersect(ids, any);
    }
  }
  removeUpTo(ids, found.droppedId);
  return matchesIn(ids, { ...found.tail, upTo: found.upTo, uid: found.uid, droppedId: found.droppedId });
};
