import { type Event, ListEventCreators, SearchEvents } from '@bunting/contracts';
import { keepPreviousData, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useState } from 'react';
import { call } from '../../api/call.ts';
import { operationKey, operationQuery, useEnvironments, useProjects } from '../../api/queries-and-mutations.ts';
import { useFilterInUrl } from '../../filtering/search-parameter.ts';
import { type EventFilterVocabulary, type EventQuery, readEventFilter } from './event-filter.ts';

/** The values that a filter can have. The users are read only when suggestions need them, or the filter names one. */
function useVocabulary(filter: string, isNeeded: boolean, project: string | undefined): EventFilterVocabulary {
  const namesUser = /(^|\s)by:/.test(filter);
  const { data: creators } = useQuery({
    ...operationQuery(ListEventCreators, {}),
    enabled: isNeeded || namesUser,
    staleTime: 60_000,
  });
  const { data: projects } = useProjects();
  const { data: environments } = useEnvironments();
  return {
    creators,
    projects: (projects?.projects ?? []).map(({ id }) => id),
    environments: (environments?.environments ?? []).map(({ name }) => name),
    project,
  };
}

/** The search for the events of the list, from the filter in the URL; of all projects, or of the given one. */
export function useEventListQuery(project: string | undefined) {
  const { filter, setFilter } = useFilterInUrl();
  const [isVocabularyNeeded, setVocabularyNeeded] = useState(false);
  const vocabulary = useVocabulary(filter, isVocabularyNeeded, project);
  const { creators } = vocabulary;
  const {
    query: parsedQuery,
    errors,
    chips,
  } = useMemo(() => readEventFilter(filter, { creators, project }), [filter, creators, project]);
  // An equal query stays the same object, however its filter was typed, so that the list keeps its state.
  const serializedQuery = JSON.stringify(parsedQuery);
  const query = useMemo(() => JSON.parse(serializedQuery) as EventQuery, [serializedQuery]);
  return { query, errors, chips, filter, setFilter, vocabulary, loadVocabulary: () => setVocabularyNeeded(true) };
}

/** The number of events in a full window, which is the part of the list that one request reads. */
const rowsPageSize = 100;
/** The number of further events that a request reads: while no more arrive between the count and the request, it need not be repeated. */
const slack = 25;
/** Milliseconds for which events that have left the screen stay in memory. */
const eventsGcMs = 30_000;
/** The maximum number of rows: browsers limit the height of an element. A filter by day finds older events. */
const maxRows = 100_000;
/** The maximum number of times that a request is sent while more events arrive than `slack`, or events are deleted. */
const maxAttempts = 4;
/** Milliseconds after which the oldest event is read again: if retention deletes as many events as arrive, the count does not show it. */
const oldestEventStaleMs = 60_000;

/** The number of events in a window. Only the newest window, which has the highest index, may have fewer than `rowsPageSize`. */
function sizeOf(index: number, total: number): number {
  return Math.min(rowsPageSize, total - index * rowsPageSize);
}

/**
 * Reads the events of a window. Windows are offsets from the oldest event, so that newer events do not move them. `total` is the number of
 * events when the list was counted: the offset of the request is shifted by those that arrived since.
 */
async function readWindow(
  query: EventQuery,
  index: number,
  total: number,
  signal: AbortSignal,
): Promise<readonly Event[]> {
  const size = sizeOf(index, total);
  let expectedTotal = total;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const offset = Math.max(0, expectedTotal - index * rowsPageSize - size);
    const page = { ...query, offset: String(offset), limit: String(size + slack) };
    const { events, total: currentTotal } = await call(SearchEvents, { query: page, signal });
    const arrived = currentTotal - expectedTotal;
    if (arrived >= 0 && arrived <= slack) return events.slice(arrived, arrived + size);
    expectedTotal = currentTotal;
  }
  throw new Error('More events came than could be read. Try again.');
}

/** Reads the id of the oldest event; null if there is none. `total` is the number of events when the list was counted. */
async function readOldest(query: EventQuery, total: number, signal: AbortSignal): Promise<number | null> {
  let expectedTotal = total;
  for (let attempt = 0; attempt < maxAttempts; attempt++) {
    const offset = Math.max(0, expectedTotal - 1);
    const page = { ...query, offset: String(offset), limit: String(slack) };
    const { events, total: currentTotal } = await call(SearchEvents, { query: page, signal });
    if (offset + events.length === currentTotal) return events.at(-1)?.id ?? null;
    expectedTotal = currentTotal;
  }
  throw new Error('More events came than could be read. Try again.');
}

/** The result of counting the events of a query. The list has these events until it is counted again. */
interface EventCount {
  readonly query: EventQuery;
  readonly total: number;
  /** incremented when there are fewer events than before: retention deleted the oldest, so that all windows have moved */
  readonly generation: number;
}

function windowQuery({ query, total, generation }: EventCount, oldest: number | null, index: number) {
  return {
    // A window that is not full gets further events: therefore its key includes the count.
    queryKey: operationKey(
      SearchEvents,
      query,
      'window',
      generation,
      oldest,
      index,
      sizeOf(index, total) < rowsPageSize ? total : 'full',
    ),
    queryFn: ({ signal }: { readonly signal: AbortSignal }) => readWindow(query, index, total, signal),
    gcTime: eventsGcMs,
    // Recorded events do not change.
    staleTime: Infinity,
  };
}

/**
 * The events that match, the newest first, of which only those on the screen are read. New events do not move rows: `newerCount` counts them,
 * and they are shown when the list is scrolled to its top, or by `showNewer`.
 */
export function useEventRows(query: EventQuery, first: number, last: number, isAtTop: boolean) {
  const client = useQueryClient();
  const newestEvents = useQuery({
    ...operationQuery(SearchEvents, { query: { ...query, limit: String(rowsPageSize) } }),
    placeholderData: keepPreviousData,
  });
  const [eventCount, setEventCount] = useState<EventCount | undefined>();
  const currentTotal = newestEvents.isPlaceholderData ? undefined : newestEvents.data?.total;
  const needsRecount =
    eventCount?.query !== query ||
    (currentTotal ?? 0) < eventCount.total ||
    (isAtTop && (currentTotal ?? 0) > eventCount.total);
  if (currentTotal !== undefined && needsRecount) {
    const haveEventsBeenDeleted = eventCount?.query === query && currentTotal < eventCount.total;
    setEventCount({
      query,
      total: currentTotal,
      generation: (eventCount?.generation ?? 0) + (haveEventsBeenDeleted ? 1 : 0),
    });
  }

  const shownCount = useMemo(() => eventCount ?? { query, total: 0, generation: 0 }, [eventCount, query]);
  const { total, generation } = shownCount;
  const newerCount = Math.max(0, (newestEvents.data?.total ?? total) - total);
  const rows = Math.min(total, maxRows);
  const windowAt = (row: number): number => Math.floor((total - 1 - row) / rowsPageSize);
  const needsWindows = last >= rowsPageSize - newerCount && total > 0;
  const [from, to] = needsWindows ? [windowAt(Math.min(last, rows - 1)), windowAt(first)] : [0, -1];
  const indices = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const { data: oldest, error: oldestError } = useQuery({
    queryKey: operationKey(
      SearchEvents,
      shownCount.query,
      'oldest',
      generation,
      Math.floor(newestEvents.dataUpdatedAt / oldestEventStaleMs),
    ),
    queryFn: ({ signal }) => readOldest(shownCount.query, total, signal),
    enabled: needsWindows,
    staleTime: oldestEventStaleMs,
    gcTime: eventsGcMs,
    placeholderData: keepPreviousData,
  });
  const windows = useQueries({
    queries: indices.map((index) => ({
      ...windowQuery(shownCount, oldest ?? null, index),
      enabled: oldest !== undefined,
    })),
  });
  useEffect(() => {
    if (needsWindows && from > 0 && oldest !== undefined)
      void client.prefetchQuery(windowQuery(shownCount, oldest, from - 1));
  }, [client, shownCount, needsWindows, from, oldest]);

  return {
    /** the number of events that match the filter */
    total,
    /** the number of rows of the list, at most `maxRows` */
    rows,
    /** the number of events that match and are newer than those in the list */
    newerCount,
    isLoaded: eventCount !== undefined,
    /** whether the rows are those of an earlier filter, while those of the current one are loading */
    isOutdated: newestEvents.isPlaceholderData,
    error: newestEvents.error ?? oldestError ?? windows.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => client.invalidateQueries({ queryKey: operationKey(SearchEvents) }),
    /** Checks for new events. */
    refresh: () => newestEvents.refetch(),
    showNewer: () => setEventCount({ ...shownCount, total: total + newerCount }),
    /** The event of a row; undefined while it is being read. */
    eventAt: (row: number): Event | undefined => {
      const newestEvent = newestEvents.data?.events[row + newerCount];
      if (newestEvent !== undefined) return newestEvent;
      const position = total - 1 - row;
      const index = Math.floor(position / rowsPageSize);
      return windows[index - from]?.data?.at(index * rowsPageSize - position - 1);
    },
  };
}

interface ExpandedAndActiveEventsOptions {
  readonly query: EventQuery;
  readonly rows: number;
  readonly total: number;
}

/**
 * The events of the list whose details are open, and the active row, on which shortcuts act. Another query finds other events and resets
 * both. The list of a link to one event shows its details.
 */
export function useExpandedAndActiveEvents({ query, rows, total }: ExpandedAndActiveEventsOptions) {
  const [toggledIds, setToggledIds] = useState<ReadonlySet<number>>(new Set());
  /** -1 before a row is chosen */
  const [activeRow, setActiveRow] = useState(-1);
  const [lastQuery, setLastQuery] = useState(query);
  if (lastQuery !== query) {
    setLastQuery(query);
    setActiveRow(-1);
    setToggledIds(new Set());
  }
  const isOpenByDefault = query.id !== undefined && total === 1;
  const isOpen = (id: number): boolean => toggledIds.has(id) !== isOpenByDefault;
  const toggle = (row: number, id: number): void => {
    setActiveRow(row);
    setToggledIds((before) =>
      before.has(id) ? new Set([...before].filter((toggledId) => toggledId !== id)) : new Set([...before, id]),
    );
  };
  const moveActiveRow = (step: number): void => {
    if (rows > 0) setActiveRow((row) => Math.max(0, Math.min(rows - 1, row + step)));
  };
  return { activeRow, moveActiveRow, isOpen, toggle };
}
