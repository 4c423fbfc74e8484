import type { Searcher } from '../feature-index.ts';
import type { NamedSegments } from '../persistence/conditions.ts';
import type { FeatureQuery, Sort } from '../query/feature-query.ts';
import type { Creators, Holding } from '../query/filters.ts';
import { encoded, keyOf, longestEncoded, quoted } from './encoding.ts';
import { Unanswered } from './unanswered.ts';

/** Conditions that must all hold; of those in a list, one. */
export type Filter = readonly (string | readonly string[])[];

/** Features that come one after the other, in one order: what Meilisearch finds by one query. */
export interface Group {
  readonly filter: Filter;
  readonly sort: readonly string[];
  /** what is looked for by Meilisearch's own ranking, typing errors forgiven */
  readonly q?: string;
}

/** What Meilisearch is asked. The groups follow each other, and no feature is in two of them. */
export interface Question {
  readonly groups: readonly Group[];
  /** whether the groups are only where to find what is looked for, and PostgreSQL sorts it */
  readonly isSortedElsewhere: boolean;
  /** whether what is found is exactly what the words say: then PostgreSQL can tell whether it is right */
  readonly isExact: boolean;
}

const mostProjects = 500;

const among = (field: string, values: readonly (string | number)[]): string =>
  `${field} IN [${values.map(quoted).join(', ')}]`;
const notAmong = (field: string, values: readonly (string | number)[]): string =>
  `${field} NOT IN [${values.map(quoted).join(', ')}]`;
const nothing = among('archived', []);

const createdBy = ({ isNot, ids, names }: Creators): Filter => {
  const given = [
    ...(ids.length === 0 ? [] : [{ field: 'creatorId', values: ids }]),
    ...(names.length === 0 ? [] : [{ field: 'creatorName', values: names.map(keyOf) }]),
  ];
  return isNot
    ? given.map(({ field, values }) => notAmong(field, values))
    : [given.map(({ field, values }) => among(field, values))];
};

const holding = (field: string, { holds }: Pick<Holding, 'holds'>, values: readonly (string | number)[]): Filter => {
  if (holds === 'any') return [among(field, values)];
  if (holds === 'none') return [notAmong(field, values)];
  const each = values.map((value) => among(field, [value]));
  return holds === 'all' ? each : [values.map((value) => notAmong(field, [value]))];
};

const segments = (asked: NamedSegments): Filter => {
  // Without a segment of that name nothing holds them all.
  if (!asked.complete && asked.holds === 'all') return [nothing];
  if (!asked.complete && asked.holds === 'not all') return [];
  return holding('segments', asked, asked.ids);
};

const beginsWith = (field: string, text: string): string => {
  const operand = encoded(text);
  if (operand.length > longestEncoded) throw new Unanswered('unable', 'a text is longer than what the index keeps');
  return `${field} STARTS WITH ${quoted(operand)}`;
};

const filterOf = (query: FeatureQuery, named: NamedSegments | undefined, { hiddenProjects }: Searcher): Filter => {
  if (hiddenProjects.length > mostProjects)
    throw new Unanswered('unable', 'more projects are hidden from the caller than a filter should list');
  const { project, type, stale, tag, status, created, archived } = query;
  return [
    among('archived', [archived ? 1 : 0]),
    ...(hiddenProjects.length === 0 ? [] : [notAmong('project', hiddenProjects.map(keyOf))]),
    ...(project === undefined ? [] : [(project.isNot ? notAmong : among)('project', project.values.map(keyOf))]),
    ...(type === undefined ? [] : [(type.isNot ? notAmong : among)('type', type.values.map(keyOf))]),
    ...(query.createdBy === undefined ? [] : createdBy(query.createdBy)),
    ...(stale === undefined ? [] : [among('stale', stale.map(Number))]),
    ...(tag === undefined ? [] : holding('tags', tag, tag.values.map(keyOf))),
    ...(named === undefined ? [] : segments(named)),
    ...(status === undefined ? [] : [among('statuses', status.map(keyOf))]),
    ...(created === undefined
      ? []
      : [`createdAt ${created.before ? '<' : '>='} ${quoted(created.midnight.getTime() * 1_000)}`]),
    ...(query.texts.length === 0 || query.fuzzy ? [] : [query.texts.map((text) => beginsWith('ends', text))]),
  ];
};

const rising = ['byCreation:asc'];

const sortOf = ({ by, descending }: Sort): readonly string[] => {
  const direction = descending ? 'desc' : 'asc';
  if (typeof by === 'object') return [`byEnvironment.${keyOf(by.environment)}:${direction}`, ...rising];
  switch (by) {
    case 'createdAt':
      return descending ? ['byCreationFalling:asc'] : rising;
    case 'name':
      return [`id:${direction}`];
    case 'type':
      return [`byType:${direction}`, ...rising];
    case 'project':
      return [`byProject:${direction}`, ...rising];
    case 'stale':
      return [`stale:${direction}`, ...rising];
    case 'lastSeenAt':
      return [`lastSeenAt:${direction}`, ...rising];
  }
};

/** Words alone: quotes and minus signs would be orders to Meilisearch. */
const wordsOf = (text: string): string =>
  text
    .replace(/["']/g, ' ')
    .replace(/(^|\s)-+/g, '$1')
    .trim();
const hasWord = /[\p{L}\p{N}]/u;

/** What contains the text is most like it: in its name, and the shorter that is the more so; in a tag; then what is only alike. */
const alike = (text: string): readonly Group[] => {
  const [inName, inAny] = [beginsWith('nameEnds', text), beginsWith('ends', text)];
  const q = wordsOf(text);
  return [
    { filter: [inName], sort: ['length:asc', ...rising] },
    { filter: [`NOT ${inName}`, inAny], sort: rising },
    ...(hasWord.test(q) ? [{ filter: [`NOT ${inAny}`], sort: [], q }] : []),
  ];
};

/**
 * What to ask Meilisearch for a search.
 * @throws Unanswered `unable` when it could not be answered exactly
 */
export const questionOf = (query: FeatureQuery, named: NamedSegments | undefined, searcher: Searcher): Question => {
  const filter = filterOf(query, named, searcher);
  const isFuzzy = query.fuzzy && query.texts.length > 0;
  const [text = '', ...more] = query.texts;
  if (isFuzzy && more.length > 0) throw new Unanswered('unable', 'only one text can be ranked');
  const isSortedElsewhere = isFuzzy && query.sort !== 'relevance';
  const found: readonly Group[] = isFuzzy
    ? alike(text)
    : [{ filter: [], sort: query.sort === 'relevance' ? rising : sortOf(query.sort) }];
  const mine = among('favoritedBy', [searcher.userId]);
  const others = notAmong('favoritedBy', [searcher.userId]);
  const whose = query.favoritesFirst && !isSortedElsewhere ? [[mine], [others]] : [[]];
  return {
    groups: whose.flatMap((favorites) =>
      found.map((group) => ({ ...group, filter: [...filter, ...favorites, ...group.filter] })),
    ),
    isSortedElsewhere,
    isExact: !isFuzzy,
  };
};
