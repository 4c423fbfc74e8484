import { SearchFeatures, type SearchResultFeature } from '@bunting/contracts';
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { operationKey, operationQuery } from '../../api/queries-and-mutations.ts';
import type { SearchQuery } from './flag-filter.ts';

/** The number of rows that one request returns, called a window. The list loads the windows that are on the screen. */
const rowsPageSize = 100;
/** Milliseconds for which rows that have left the screen stay in memory. */
const rowsGcMs = 30_000;

/** The query of one window. Its key has the filter, so that the response to an earlier filter never fills the list of a later one. */
const windowQuery = (query: SearchQuery, index: number) => ({
  ...operationQuery(SearchFeatures, {
    query: { ...query, offset: String(index * rowsPageSize), limit: String(rowsPageSize) },
  }),
  gcTime: rowsGcMs,
});

/** The rows of a search, of which only those on the screen are read. Requests for rows that have left the screen are cancelled. */
export const useFlagRows = (query: SearchQuery, first: number, last: number) => {
  const client = useQueryClient();
  const firstWindow = useQuery({ ...windowQuery(query, 0), placeholderData: keepPreviousData });
  const total = firstWindow.data?.total ?? 0;
  const lastWindow = Math.max(0, Math.ceil(total / rowsPageSize) - 1);
  const from = Math.min(Math.floor(first / rowsPageSize), lastWindow);
  const to = Math.min(Math.floor(last / rowsPageSize), lastWindow);
  const indices = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const windows = useQueries({ queries: indices.map((index) => windowQuery(query, index)) });
  const isOutdated = firstWindow.isPlaceholderData;
  // Prefetched only when the second half of the last window is on the screen: else each key press in the filter would cause two searches.
  const isNextNeeded = !isOutdated && to < lastWindow && last >= (to + 0.5) * rowsPageSize;
  useEffect(() => {
    if (isNextNeeded) void client.prefetchQuery(windowQuery(query, to + 1));
  }, [client, query, to, isNextNeeded]);
  return {
    total,
    isLoaded: firstWindow.data !== undefined,
    /** whether the rows are those of an earlier filter, while those of the current one are loading */
    isOutdated,
    error: firstWindow.error ?? windows.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => client.invalidateQueries({ queryKey: operationKey(SearchFeatures) }),
    /** The flag of a row; undefined while it is being read. */
    rowAt: (row: number): SearchResultFeature | undefined => {
      const index = Math.floor(row / rowsPageSize);
      const data = index === 0 ? firstWindow.data : windows[index - from]?.data;
      return data?.features[row % rowsPageSize];
    },
  };
};
