import { type Event, SearchEvents } from '@bunting/contracts';
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries.ts';
import { eventsMessages } from '../../../messages/events.ts';
import type { EventQuery } from './event-filter.ts';

/** Events of one request. */
const rowsPageSize = 100;
/** Maximum number of new events between two requests for which the second need not be repeated. */
const slack = 25;
/** Milliseconds for which events that have left the screen stay in memory. */
const eventsGcMs = 30_000;
/** Maximum rows of a list: browsers limit the height of an element. A filter by day finds older events. */
const maxRows = 100_000;
const maxAttempts = 4;
/** Milliseconds after which the oldest event is refetched: retention may delete as many as arrive. */
const oldestMs = 60_000;

/** The number of events of a window: the newest one is full only where the number of all is a multiple of its size. */
const sizeOf = (index: number, total: number): number => Math.min(rowsPageSize, total - index * rowsPageSize);

/**
 * Reads the events of a window. Windows are offsets from the oldest event, so that newer events do not move them. `total` is the number of
 * events when the list was counted: the offset of the request is shifted by those that arrived since.
 */
const readWindow = async (
  query: EventQuery,
  index: number,
  total: number,
  signal: AbortSignal,
): Promise<readonly Event[]> => {
  const size = sizeOf(index, total);
  let known = total;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const offset = Math.max(0, known - index * rowsPageSize - size);
    const page = { ...query, offset: String(offset), limit: String(size + slack) };
    const { events, total: now } = await call(SearchEvents, { query: page, signal });
    const moved = now - known;
    if (moved >= 0 && moved <= slack) return events.slice(moved, moved + size);
    known = now;
  }
  throw new Error(eventsMessages.moreThanRead);
};

/** Reads the id of the oldest event, null where none is left. `total` is the number of events at the last count. */
const readOldest = async (query: EventQuery, total: number, signal: AbortSignal): Promise<number | null> => {
  let known = total;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const offset = Math.max(0, known - 1);
    const page = { ...query, offset: String(offset), limit: String(slack) };
    const { events, total: now } = await call(SearchEvents, { query: page, signal });
    if (offset + events.length === now) return events.at(-1)?.id ?? null;
    known = now;
  }
  throw new Error(eventsMessages.moreThanRead);
};

/** The events of which a list has counted, and for which filter. */
interface Counted {
  readonly query: EventQuery;
  readonly total: number;
  /** how often there were fewer events than before: the oldest were dropped for their age, and windows count from another one */
  readonly generation: number;
}

const windowOf = ({ query, total, generation }: Counted, oldest: number | null, index: number) => ({
  // A window that is not full yet has other events once there are more.
  queryKey: [
    SearchEvents.operationId,
    query,
    'window',
    generation,
    oldest,
    index,
    sizeOf(index, total) < rowsPageSize ? total : 'full',
  ] as const,
  queryFn: ({ signal }: { readonly signal: AbortSignal }) => readWindow(query, index, total, signal),
  gcTime: eventsGcMs,
  // What happened does not change.
  staleTime: Infinity,
});

/**
 * The events that match, the newest first, of which only those on the screen are read. New events do not move rows: `newer` counts them,
 * and they are shown when the list is scrolled to its top, or by `showNewer`.
 */
export const useEventRows = (query: EventQuery, first: number, last: number, isAtTop: boolean) => {
  const client = useQueryClient();
  const head = useQuery({
    ...operationQuery(SearchEvents, { query: { ...query, limit: String(rowsPageSize) } }),
    placeholderData: keepPreviousData,
  });
  const [counted, setCounted] = useState<Counted | undefined>();
  const found = head.isPlaceholderData ? undefined : head.data?.total;
  const isOutdated =
    counted?.query !== query || (found ?? 0) < counted.total || (isAtTop && (found ?? 0) > counted.total);
  if (found !== undefined && isOutdated) {
    const isDropped = counted?.query === query && found < counted.total;
    setCounted({ query, total: found, generation: (counted?.generation ?? 0) + (isDropped ? 1 : 0) });
  }

  const shown = useMemo(() => counted ?? { query, total: 0, generation: 0 }, [counted, query]);
  const { total, generation } = shown;
  const newer = Math.max(0, (head.data?.total ?? total) - total);
  const rows = Math.min(total, maxRows);
  const windowAt = (row: number): number => Math.floor((total - 1 - row) / rowsPageSize);
  const needsWindows = last >= rowsPageSize - newer && total > 0;
  const [from, to] = needsWindows ? [windowAt(Math.min(last, rows - 1)), windowAt(first)] : [0, -1];
  const indices = Array.from({ length: to - from + 1 }, (_one, nth) => from + nth);
  const { data: oldest, error: oldestError } = useQuery({
    queryKey: [
      SearchEvents.operationId,
      shown.query,
      'oldest',
      generation,
      Math.floor(head.dataUpdatedAt / oldestMs),
    ] as const,
    queryFn: ({ signal }) => readOldest(shown.query, total, signal),
    enabled: needsWindows,
    staleTime: oldestMs,
    gcTime: eventsGcMs,
    placeholderData: keepPreviousData,
  });
  const windows = useQueries({
    queries: indices.map((index) => ({ ...windowOf(shown, oldest ?? null, index), enabled: oldest !== undefined })),
  });
  useEffect(() => {
    if (needsWindows && from > 0 && oldest !== undefined) void client.prefetchQuery(windowOf(shown, oldest, from - 1));
  }, [client, shown, needsWindows, from, oldest]);

  return {
    /** how many events match */
    total,
    /** how many of them the list has */
    rows,
    newer,
    isLoaded: counted !== undefined,
    /** the rows are of an earlier filter until those of this one are here */
    isOutdated: head.isPlaceholderData,
    error: head.error ?? oldestError ?? windows.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => client.invalidateQueries({ queryKey: [SearchEvents.operationId] }),
    /** Checks for new events. */
    refresh: () => head.refetch(),
    showNewer: () => setCounted({ ...shown, total: total + newer }),
    /** The event of a row; nothing while it is being read. */
    eventAt: (row: number): Event | undefined => {
      const inHead = head.data?.events[row + newer];
      if (inHead !== undefined) return inHead;
      const position = total - 1 - row;
      const index = Math.floor(position / rowsPageSize);
      return windows[index - from]?.data?.at(index * rowsPageSize - position - 1);
    },
  };
};
