import type { Extent } from './page.ts';

/** Features of one state of an environment, or of none, as SQL. */
interface List {
  /** how many they are, of which `sizes` knows the total */
  readonly size: string;
  readonly from: string;
}

/** What a page of all features is read from when they are sorted by an environment. */
export interface ByEnvironment {
  /** `archived` or `not archived` */
  readonly which: string;
  /** both states of the environment in the order they are sorted in, each as it is placed in the statement */
  readonly statuses: readonly string[];
  /** how many features there are, as SQL */
  readonly total: string;
}

/**
 * Steps to a page of all features by their state in an environment. Each state is a list of known length: the page is cut out
 * of the lists that it reaches into, from whichever end of them is nearer, and the others are not looked at.
 */
export const environmentPage = ({ which, statuses, total }: ByEnvironment, { limit, offset }: Extent): string[] => {
  const lists: readonly List[] = [
    ...statuses.map((status) => ({
      size: `coalesce((select features from status_tally where ${which} and status = ${status}), 0)`,
      from: `feature_status where ${which} and status = ${status}`,
    })),
    {
      size: `total${statuses.map((_, at) => ` - size_${at}`).join('')}`,
      from: `feature_lookup where ${which} and not (statuses && array[${statuses.join(', ')}])`,
    },
  ];
  const known = statuses.map((_, at) => `${lists[at]?.size} as size_${at}`);
  const parts = lists.map(({ from }, at) => {
    const before = ['0', ...lists.slice(0, at).map((_, earlier) => `size_${earlier}`)].join(' + ');
    const within = (place: string): string => `greatest(0, least(size_${at}, ${place} - (${before})))`;
    return `part_${at} as materialized (
      select case when 2 * skipped > size
        then array(select name from (
          select name, created_at from ${from}
          order by created_at desc, name desc limit taken offset size - skipped - taken
        ) as last order by created_at, name)
        else array(select name from ${from} order by created_at, name limit taken offset skipped) end as names
      from (
        select size_${at} as size, ${within(offset)} as skipped,
          ${within(`(${offset} + ${limit})`)} - ${within(offset)} as taken from sizes
      ) as slice)`;
  });
  return [
    `known as materialized (select ${[...known, `${total} as total`].join(', ')})`,
    `sizes as materialized (select *, ${lists.at(-1)?.size} as size_${statuses.length} from known)`,
    ...parts,
    `page as materialized (
      select ${lists.map((_, at) => `part_${at}.names`).join(' || ')} as names, false as backwards, total
      from sizes, ${lists.map((_, at) => `part_${at}`).join(', ')})`,
  ];
};
