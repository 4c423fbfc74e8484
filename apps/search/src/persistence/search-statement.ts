import { createHash } from 'node:crypto';
import type { Searcher } from '../feature-index.ts';
import { relevanceOf } from './alike.ts';
import { type Conditions, conditionsOf, type NamedSegments, type Place, type PreparedQuery } from './conditions.ts';
import { environmentPage } from './environment-page.ts';
import type { KnownTotals } from './known-totals.ts';
import { orderOf } from './orders.ts';
import { deepPage, groupsOf, pageOfGroups, statusesBy } from './page.ts';

/** From here on a page is looked for from whichever end is nearer. */
const deepOffset = 1_000;

const all = (conditions: readonly string[]): string => conditions.join(' and ');

/** How many features there are of those that only the tally tells apart. */
const talliedTotal = ({ tallied }: Conditions): string =>
  `(select coalesce(sum(features), 0)::bigint from feature_tally where ${all(tallied)})`;

/** What is excluded is subtracted: nearly all features are quick to tally and slow to count. */
const totalWithout = (conditions: Conditions): string =>
  `${talliedTotal(conditions)} - (select count(*) from feature_lookup
    where ${all(conditions.tallied)} and (${conditions.excluded.join(' or ')}))`;

/** Features are only told apart by whether they are archived, so that it is known of each list how long it is. */
const areAll = ({ tallied, others, excluded }: Conditions): boolean =>
  tallied.length === 1 && others.length + excluded.length === 0;

const environmentOf = (status: string): string => status.slice(0, status.lastIndexOf(':'));

/** How many features are in one of these states of one environment; undefined where that is not all that is asked. */
const statusTotal = (
  query: PreparedQuery,
  { tallied, others, excluded }: Conditions,
  place: Place,
): string | undefined => {
  const [first, ...more] = query.status ?? [];
  const isAll = tallied.length === 1 && others.length === 1 && excluded.length === 0;
  // A feature is in both states of two environments at once, and would be counted twice.
  if (!isAll || first === undefined || more.some((status) => environmentOf(status) !== environmentOf(first)))
    return undefined;
  return `(select coalesce(sum(features), 0)::bigint from status_tally
    where ${all(tallied)} and status = any(${place(query.status, 'text[]')}))`;
};

/** How many features were created from a day on, or before it; undefined where that is not all that is asked. */
const dayTotal = (
  { created }: PreparedQuery,
  { tallied, others, excluded }: Conditions,
  place: Place,
): string | undefined => {
  if (created === undefined || tallied.length > 1 || others.length > 1 || excluded.length > 0) return undefined;
  // PostgreSQL writes no year 0.
  const midnight = `to_timestamp(${place(created.midnight.getTime() / 1000, 'double precision')})`;
  return `(select coalesce(sum(features), 0)::bigint from day_tally
    where ${all(tallied)} and day ${created.before ? '<' : '>='} (${midnight} at time zone 'UTC')::date)`;
};

const keyOf = (...parts: readonly unknown[]): string =>
  createHash('sha256').update(JSON.stringify(parts)).digest('base64');

export interface SearchStatement {
  readonly text: string;
  readonly values: readonly unknown[];
  /** what the total can be recalled by, where that is worth it */
  readonly totalKey: string | undefined;
}

/** Features that another engine found: only these are looked for, so that what is answered is what the tables say of them. */
export interface Suggested {
  readonly names: readonly string[];
  /** whether the total is wanted as well, of all that is found and not of these alone */
  readonly withTotal: boolean;
}

/**
 * One statement that finds the names of a page and the total, and then reads the documents of that page alone. Its row tells
 * as well what mark the documents bear, and whether what was looked up before still holds: which segments have the names that were
 * asked for, and that no feature has a word that none had then.
 */
export const searchStatement = (
  query: PreparedQuery,
  segments: NamedSegments | undefined,
  searcher: Searcher,
  totals: Pick<KnownTotals, 'recall'>,
  suggested?: Suggested,
): SearchStatement => {
  const values: unknown[] = [];
  const place: Place = (value, type) => `$${values.push(value)}::${type}`;
  const steps: string[] = [];

  const conditions = conditionsOf(query, segments, searcher, place);
  const where = all([
    ...conditions.tallied,
    ...conditions.others,
    ...conditions.excluded.map((condition) => `not (${condition})`),
  ]);

  let total = talliedTotal(conditions);
  let totalKey: string | undefined;
  if (suggested?.withTotal === false) total = '0::bigint';
  else if (conditions.others.length + conditions.excluded.length > 0) {
    const tallied = statusTotal(query, conditions, place) ?? dayTotal(query, conditions, place);
    const isTallied = conditions.others.length === 0;
    const counted = isTallied ? totalWithout(conditions) : `(select count(*) from feature_lookup where ${where})`;
    if (tallied === undefined) {
      totalKey = keyOf(counted, values);
      const known = totals.recall(totalKey);
      total = `case when (select mark from search_mark) = ${place(known?.mark ?? null, 'uuid')}
        then ${place(known?.total ?? null, 'bigint')} else ${counted} end`;
    } else total = tallied;
  }

  const me = place([searcher.userId], 'integer[]');
  const extent = { limit: place(query.limit, 'bigint'), offset: place(query.offset, 'bigint') };
  const { sort } = query;
  if (
    typeof sort === 'object' &&
    typeof sort.by === 'object' &&
    areAll(conditions) &&
    !query.favoritesFirst &&
    suggested === undefined
  ) {
    const statuses = statusesBy(sort.by.environment, sort.descending).map((status) => place(status, 'text'));
    steps.push(...environmentPage({ which: all(conditions.tallied), statuses, total }, extent));
  } else {
    const groups = groupsOf(query, me, place);
    const from =
      sort === 'relevance'
        ? `(select *, ${relevanceOf(query.alike?.texts ?? [], place)} as relevance from feature_lookup) as feature_lookup`
        : 'feature_lookup';
    const among = suggested === undefined ? where : `${where} and name = any(${place(suggested.names, 'text[]')})`;
    // The total of what is suggested says nothing of all that is found.
    const ofPage = suggested === undefined ? total : '0::bigint';
    const [source, order] = [{ from, where: among, total: ofPage }, orderOf(sort)];
    const isDeep = suggested === undefined && query.offset >= deepOffset;
    steps.push(
      ...(isDeep && groups.length === 1
        ? deepPage(source, order, extent)
        : pageOfGroups(source, groups, order, { ...extent, isDeep })),
    );
  }

  const { vocabulary } = query.alike ?? query.sought ?? {};
  const isCurrent = [
    ...(segments === undefined
      ? []
      : [
          `array(select id from segment where name = any(${place(segments.values, 'text[]')}) order by id)
          = ${place(segments.ids, 'integer[]')}`,
        ]),
    ...(vocabulary === undefined ? [] : [`(select vocabulary from search_mark) = ${place(vocabulary, 'bigint')}`]),
  ];
  const document = `'{"favorite":' || (lookup.favorited_by @> ${me})::text || ',"segments":' ||
    case when lookup.segment_ids = '{}' then '[]' else (
      select coalesce(json_agg(segment.name order by segment.name), '[]')::text from segment
      where segment.id = any(lookup.segment_ids) and segment.name is not null) end ||
    ',' || right(document::text, -1)`;
  const inOrder = 'order by case when backwards then -nth else nth end';
  const features =
    suggested === undefined
      ? `features_of_page(names, backwards, ${me})`
      : `(
      select coalesce(json_agg(json_build_object('name', name, 'json', ${document}, 'version', (
          select position from feature_change where feature_change.name = lookup.name)) ${inOrder}), '[]')
      from unnest(names) with ordinality as named (name, nth)
      join feature_lookup lookup using (name)
      join feature_document using (name)
    )`;
  const text = `
    with ${steps.join(', ')}
    select ${suggested === undefined ? 'total' : `${total} as total`}, (select mark from search_mark) as mark, ${isCurrent.length === 0 ? 'true' : all(isCurrent)} as "isCurrent",
      ${features} as features${suggested === undefined ? '' : ', index_feed.epoch, index_feed.position'}
    from page${suggested === undefined ? '' : ', index_feed'}`;
  return { text, values, totalKey };
};
