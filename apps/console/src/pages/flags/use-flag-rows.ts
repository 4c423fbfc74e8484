import { SearchFeatures, type SearchResultFeature } from '@bunting/contracts';
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { operationQuery } from '../../api/queries.ts';
import type { SearchQuery } from './flag-filter.ts';

/** Flags of one request. The list loads the windows on the screen, and prefetches the next one from the middle of a window on. */
export const rowsPageSize = 100;
/** Milliseconds for which rows that have left the screen stay in memory. */
const rowsGcMs = 30_000;

/** The query of the rows from an offset on. Its key has the filter, so the response to an earlier filter never fills a later list. */
const windowOf = (query: SearchQuery, index: number) => ({
  ...operationQuery(SearchFeatures, {
    query: { ...query, offset: String(index * rowsPageSize), limit: String(rowsPageSize) },
  }),
  gcTime: rowsGcMs,
});

/** The rows of a search, of which only those on the screen are read. Requests for rows that have left the screen are cancelled. */
export const useFlagRows = (query: SearchQuery, first: number, last: number) => {
  const client = useQueryClient();
  const head = useQuery({ ...windowOf(query, 0), placeholderData: keepPreviousData });
  const total = head.data?.total ?? 0;
  const lastWindow = Math.max(0, Math.ceil(total / rowsPageSize) - 1);
  const from = Math.min(Math.floor(first / rowsPageSize), lastWindow);
  const to = Math.min(Math.floor(last / rowsPageSize), lastWindow);
  const indices = Array.from({ length: to - from + 1 }, (_one, nth) => from + nth);
  const windows = useQueries({ queries: indices.map((index) => windowOf(query, index)) });
  const isOld = head.isPlaceholderData;
  // Once the second half of a request is on the screen: the server would otherwise search twice for each key in the filter.
  const isNextNeeded = !isOld && to < lastWindow && last >= (to + 0.5) * rowsPageSize;
  useEffect(() => {
    if (isNextNeeded) void client.prefetchQuery(windowOf(query, to + 1));
  }, [client, query, to, isNextNeeded]);
  return {
    total,
    isLoaded: head.data !== undefined,
    /** the rows are of an earlier filter until those of this one are here */
    isOld,
    error: head.error ?? windows.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => client.invalidateQueries({ queryKey: [SearchFeatures.operationId] }),
    /** The flag of a row; nothing while it is being read. */
    rowAt: (row: number): SearchResultFeature | undefined => {
      const index = Math.floor(row / rowsPageSize);
      const data = index === 0 ? head.data : windows[index - from]?.data;
      return data?.features[row % rowsPageSize];
    },
  };
};
