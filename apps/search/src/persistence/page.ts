import type { FeatureQuery } from '../query/feature-query.ts';
import type { Place } from './conditions.ts';
import type { Order } from './orders.ts';

/** Where features are looked for, and what must hold of them, as SQL. */
export interface Source {
  readonly from: string;
  readonly where: string;
  /** how many features there are */
  readonly total: string;
}

/** Which of the features in their order, as SQL. */
export interface Extent {
  readonly limit: string;
  readonly offset: string;
}

/** Both states of an environment, in the order that features are sorted in by it. */
export const statusesBy = (environment: string, descending: boolean): readonly string[] =>
  (descending ? ['enabled', 'disabled'] : ['disabled', 'enabled']).map((state) => `${environment}:${state}`);

/** Conditions that features of one group have in common. */
export type Group = readonly string[];

/**
 * The groups that come one after the other, each in the same order: favourites and the others, and the states of the
 * environment that is sorted by. A feature is in exactly one of them.
 */
export const groupsOf = (query: FeatureQuery, me: string, place: Place): readonly Group[] => {
  let groups: readonly Group[] = [[]];
  const splitBy = (parts: readonly string[]): void => {
    groups = groups.flatMap((group) => parts.map((part) => [...group, part]));
  };
  if (query.favoritesFirst) {
    const mine = `favorited_by @> ${me}`;
    const archived = query.archived ? 'archived' : 'not archived';
    splitBy([mine, `name not in (select name from feature_lookup where ${archived} and ${mine})`]);
  }
  if (query.sort !== 'relevance' && typeof query.sort.by === 'object') {
    const statuses = statusesBy(query.sort.by.environment, query.sort.descending);
    splitBy([
      ...statuses.map((status) => `statuses && ${place([status], 'text[]')}`),
      `not (statuses && ${place(statuses, 'text[]')})`,
    ]);
  }
  return groups;
};

const namesOf = ({ from, where }: Source, order: string, { limit, offset }: Extent): string =>
  `array(select name from ${from} where ${where} order by ${order} limit ${limit} offset ${offset})`;

/**
 * Steps to a page that begins in one group and may go on in the next. Groups behind the page are not looked at, and those
 * before it are counted only when the page does not begin at the beginning. One that is far down and in the last group, which
 * is nearly always the largest, is looked for from the end when that is nearer.
 */
export const pageOfGroups = (
  counting: Source,
  groups: readonly Group[],
  order: Order,
  { limit, offset, isDeep }: Extent & { readonly isDeep: boolean },
): string[] => {
  const extent = { limit, offset };
  const source = isDeep ? { ...counting, total: '(select total from counted)' } : counting;
  const within = (group: Group): Source => ({ ...source, where: [source.where, ...group].join(' and ') });
  const parts = groups.map((group, at) => {
    if (at === 0) return namesOf(within(group), order.forwards, extent);
    const taken = groups
      .slice(0, at)
      .map((_, before) => `cardinality((select names from part_${before}))`)
      .join(' + ');
    const skipped = groups
      .slice(0, at)
      .map((before) => `(select count(*) from ${source.from} where ${within(before).where})`);
    const forwards = namesOf(within(group), order.forwards, {
      limit: `${limit} - (${taken})`,
      offset: `case when ${offset} = 0 or ${taken} > 0 then 0 else greatest(0, ${[offset, ...skipped].join(' - ')}) end`,
    });
    if (!isDeep || at < groups.length - 1) return forwards;
    const backwards = namesOf(within(group), order.backwards, {
      limit: `greatest(0, least(${limit}, ${source.total} - ${offset}))`,
      offset: `greatest(0, ${source.total} - ${offset} - ${limit})`,
    });
    return `case when 2 * ${offset} > ${source.total} and ${offset} >= ${skipped.join(' + ')}
      then array(select name from unnest(${backwards}) with ordinality as last (name, nth) order by nth desc)
      else ${forwards} end`;
  });
  const names = groups.map((_, at) => `(select names from part_${at})`).join(' || ');
  // A page that is not full is the last one, and tells the total by itself.
  const total = `case when cardinality(names) < ${limit} and (cardinality(names) > 0 or ${offset} = 0)
    then ${offset} + cardinality(names) else ${source.total} end`;
  return [
    ...(isDeep ? [`counted as materialized (select ${counting.total} as total)`] : []),
    ...parts.map((part, at) => `part_${at} as materialized (select ${part} as names)`),
    `found as materialized (select ${names} as names)`,
    `page as materialized (select names, false as backwards, ${total} as total from found)`,
  ];
};

/** Steps to a page far from the beginning, which is looked for from the end when that is nearer. */
export const deepPage = (source: Source, order: Order, extent: Extent): string[] => {
  const { limit, offset } = extent;
  const fromTheEnd = {
    limit: `(select greatest(0, least(${limit}, total - ${offset})) from counted)`,
    offset: `(select greatest(0, total - ${offset} - ${limit}) from counted)`,
  };
  return [
    `counted as materialized (select ${source.total} as total)`,
    `page as materialized (
      select total, 2 * ${offset} > total as backwards,
        case when 2 * ${offset} > total then ${namesOf(source, order.backwards, fromTheEnd)}
        else ${namesOf(source, order.forwards, extent)} end as names
      from counted)`,
  ];
};
