import {
  type CleanupFeatures,
  type CleanupQuery,
  type CleanupReason,
  cleanupReasons,
  CountCleanupFeatures,
  ListCleanupFeatures,
} from '@bunting/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { useCallback, useState } from 'react';
import { call } from '../../api/call.ts';
import { operationKey, operationQuery } from '../../api/queries-and-mutations.ts';
import type { SelectedFlag } from '../flags/bulk-action.ts';
import { lastAskedOf } from '../flags/last-asked.ts';
import { emptySelection, type FlagSelection, isSelected } from '../flags/selection-bar.tsx';

/** What the page lists: the flags of a reason or of all reasons, or the unknown flags that applications request. */
export type CleanupView = CleanupReason | 'all' | 'unknown';
export const cleanupViews: readonly CleanupView[] = ['all', ...cleanupReasons, 'unknown'];

/** The days for which a flag must have been unused, from which the user chooses. */
export const dayChoices = [7, 14, 30, 60, 90, 180, 365];
export const defaultDays = 30;

interface CleanupSearch {
  readonly q?: string | undefined;
  readonly reason?: string | undefined;
  readonly days?: string | undefined;
}

/** The view and the query that the search parameters of the URL stand for; defaults replace unknown values. */
export function cleanupQueryOf(search: CleanupSearch, project: string | undefined) {
  const view = cleanupViews.find((known) => known === search.reason) ?? 'all';
  const days = dayChoices.find((choice) => String(choice) === search.days) ?? defaultDays;
  const scope = { days, ...(project === undefined ? {} : { project }) };
  const nameText = (search.q ?? '').trim().slice(0, 100);
  const query: CleanupQuery = {
    ...scope,
    ...(view === 'all' || view === 'unknown' ? {} : { reason: view }),
    ...(nameText === '' ? {} : { query: nameText }),
  };
  return { view, days, scope, query };
}

/** Why a flag may be no longer needed, in a few words. */
export const reasonTexts = {
  stale: 'stale',
  potentiallyStale: 'past its lifetime',
  allOn: 'on for everybody',
  allOff: 'off for everybody',
  notSeen: 'not used any more',
  neverSeen: 'never used',
} as const;

export type CleanupFlag = CleanupFeatures['features'][number];

const pageSize = 1_000;

/** Reads all selected flags from the server, page by page. @throws ApiError */
export async function readCleanupSelection(
  query: CleanupQuery,
  selection: FlagSelection,
  signal?: AbortSignal,
): Promise<CleanupFlag[]> {
  const found: CleanupFlag[] = [];
  let after: string | undefined;
  do {
    const page = { ...query, limit: pageSize, ...(after === undefined ? {} : { after }) };
    const { features, next } = await call(ListCleanupFeatures, { query: page, ...(signal && { signal }) });
    found.push(...features.filter(({ name }) => isSelected(selection, name)));
    after = next ?? undefined;
  } while (after !== undefined && (selection.kind === 'all' || found.length < selection.names.size));
  return found;
}

/** A flag of the list as the bulk action that archives needs it. The list has active flags only, so archiving changes each. */
export function archivableFlagOf({ name, project, environments }: CleanupFlag): SelectedFlag {
  return {
    name,
    project,
    lastAsked: lastAskedOf({ environments }),
    effectOf: () => 'changes',
  };
}

const cleanupPageSize = 200;
/** Milliseconds until cached counts are stale; archiving invalidates them. */
export const countsStaleMs = 60_000;

/** The number of flags of each reason. The server scans all flags for them, which takes seconds where there are very many. */
export function useCleanupCounts(query: Pick<CleanupQuery, 'days' | 'project'>) {
  return useQuery({
    ...operationQuery(CountCleanupFeatures, { query }),
    placeholderData: keepPreviousData,
    staleTime: countsStaleMs,
  });
}

/** The flags of a query, read page by page as the user scrolls. */
export function useCleanupList(query: CleanupQuery, view: CleanupView, counts: ReturnType<typeof useCleanupCounts>) {
  const list = useInfiniteQuery({
    queryKey: operationKey(ListCleanupFeatures, query),
    queryFn: ({ pageParam, signal }) =>
      call(ListCleanupFeatures, {
        query: { ...query, limit: cleanupPageSize, ...(pageParam === null ? {} : { after: pageParam }) },
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
}

/** The selected flags among those that a query finds. Another query finds other flags: nothing of them is selected. */
export function useCleanupSelection(query: CleanupQuery) {
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  const key = JSON.stringify(query);
  const [lastKey, setLastKey] = useState(key);
  if (lastKey !== key) {
    setLastKey(key);
    setSelection(emptySelection);
  }
  return [selection, setSelection] as const;
}
