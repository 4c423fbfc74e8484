import { type CleanupQuery, CountCleanupFeatures, ListCleanupFeatures } from '@bunting/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { call } from '../../api/call.ts';
import { operationKey, operationQuery } from '../../api/queries-and-mutations.ts';
import { emptySelection, type FlagSelection } from '../flags/flag-selection.ts';
import type { CleanupView } from './cleanup-view.ts';

const pageSize = 200;
/** Milliseconds until cached counts are stale; archiving invalidates them. */
const countsStaleMs = 60_000;

/** The number of flags of each reason. The server scans all flags for them, which takes seconds where there are very many. */
export const useCleanupCounts = (query: Pick<CleanupQuery, 'days' | 'project'>) =>
  useQuery({
    ...operationQuery(CountCleanupFeatures, { query }),
    placeholderData: keepPreviousData,
    staleTime: countsStaleMs,
  });

/** The flags of a query, read page by page as the user scrolls. */
export const useCleanupList = (query: CleanupQuery, view: CleanupView, counts: ReturnType<typeof useCleanupCounts>) => {
  const list = useInfiniteQuery({
    queryKey: operationKey(ListCleanupFeatures, query),
    queryFn: ({ pageParam, signal }) =>
      call(ListCleanupFeatures, {
        query: { ...query, limit: pageSize, ...(pageParam === null ? {} : { after: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: view !== 'unknown',
    placeholderData: keepPreviousData,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const onReachEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const flags = (list.data?.pages ?? []).flatMap(({ features }) => features);
  // Without a search text the counts have the total; with one, it is unknown until the last page is loaded.
  const knownTotal = query.query === undefined && view !== 'unknown' ? counts.data?.[view] : undefined;
  const total = hasNextPage ? Math.max(knownTotal ?? 0, flags.length + 1) : flags.length;
  return { list, flags, total, onReachEnd };
};

/** The selected flags among those that a query finds. Another query finds other flags: nothing of them is selected. */
export const useCleanupSelection = (query: CleanupQuery) => {
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  const key = JSON.stringify(query);
  const [lastKey, setLastKey] = useState(key);
  if (lastKey !== key) {
    setLastKey(key);
    setSelection(emptySelection);
  }
  return [selection, setSelection] as const;
};
