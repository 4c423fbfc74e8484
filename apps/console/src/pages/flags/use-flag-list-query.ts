import { useMemo } from 'react';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { readFlagFilter, type SearchQuery } from './flag-filter.ts';
import type { SortState } from './flag-table.tsx';

const defaultSort: SortState = { column: 'name', isDescending: false };

/** The filter and the order of the list of flags, as state that is kept in the URL. */
const useFilterAndSortInUrl = () => {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const [column = defaultSort.column, order] = (search['sort'] ?? '').split(' ').filter(Boolean);
  const sort: SortState = { column, isDescending: order === 'desc' };
  const setSort = (chosen: string): void => {
    const isDescending = sort.column === chosen && !sort.isDescending;
    const isDefault = chosen === defaultSort.column && !isDescending;
    write({ sort: isDefault ? undefined : `${chosen}${isDescending ? ' desc' : ''}` });
  };
  return { filter, setFilter, sort, setSort };
};

/** The search for the flags of the list, from the filter and the order in the URL; of all projects, or of the given one. */
export const useFlagListQuery = (project: string | undefined, environments: readonly string[]) => {
  const { filter, setFilter, sort, setSort } = useFilterAndSortInUrl();
  const { query: parsedQuery, errors } = useMemo(() => {
    const parsed = readFlagFilter(filter, environments);
    const scoped = project === undefined ? parsed.query : { ...parsed.query, project: `IS:${project}` };
    const sorted = { ...scoped, sortBy: sort.column, sortOrder: sort.isDescending ? 'desc' : 'asc' };
    return { query: sorted, errors: parsed.errors };
  }, [filter, environments, project, sort.column, sort.isDescending]);
  // An equal query stays the same object when the environments are loaded or change, so that the list keeps its selection.
  const serializedQuery = JSON.stringify(parsedQuery);
  const query = useMemo(() => JSON.parse(serializedQuery) as SearchQuery, [serializedQuery]);
  return { query, errors, filter, setFilter, sort, setSort };
};
