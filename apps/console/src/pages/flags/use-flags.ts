import {
  AddFavoriteFeature,
  DisableFeature,
  EnableFeature,
  GetEditStatus,
  ListFeatureTypes,
  ListTags,
  RemoveFavoriteFeature,
  type ReplyOf,
  SearchFeatures,
  type SearchFeaturesResponse,
  type SearchResultFeature,
  SuggestFeatures,
} from '@bunting/contracts';
import { keepPreviousData, useMutation, useQueries, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { ApiError } from '../../api/api-error.ts';
import { call } from '../../api/call.ts';
import {
  operationKey,
  operationQuery,
  useOperationMutation,
  useProjects,
  useSegmentSummaries,
} from '../../api/queries-and-mutations.ts';
import { useFilterInUrl } from '../../filtering/search-parameter.ts';
import { useSettled } from '../../filtering/use-settled.ts';
import { notify, notifyError } from '../../shell/toasts.tsx';
import { type FlagFilterVocabulary, readFlagFilter, type SearchQuery } from './flag-filter.ts';
import type { RowActions, SortState } from './flag-table.tsx';
import { useRecentUsage } from './recent-usage.tsx';
import { emptySelection, type FlagSelection, fullSelection, isSelected, withSelected } from './selection-bar.tsx';

/** How many of the flags that a text finds have each value of a key of the filter. */
function useFacetCounts(project: string | undefined, text: string, isNeeded: boolean): FlagFilterVocabulary['counts'] {
  const { data } = useQuery({
    ...operationQuery(SuggestFeatures, {
      query: {
        query: text,
        limit: '1',
        facets: 'type,tags,project,state',
        ...(project === undefined ? {} : { project }),
      },
    }),
    enabled: isNeeded && text.length <= 100,
    placeholderData: keepPreviousData,
  });
  const facets = data?.facets;
  if (facets === undefined) return undefined;
  const { tags, ...others } = facets;
  return Object.fromEntries(
    Object.entries({ ...others, tag: tags }).map(([key, counts = []]) => [
      key,
      new Map(counts.map(({ value, count }) => [value, count])),
    ]),
  );
}

interface VocabularyOptions {
  readonly environments: readonly string[];
  readonly project: string | undefined;
  /** the words of the filter */
  readonly text: string;
  readonly isNeeded: boolean;
  /** whether counts are shown, too: they are of the words that have been typed so far */
  readonly areCountsNeeded: boolean;
}

/** The values that a filter of flags can have, for suggestions. Types, tags, segments and counts are loaded only if they are needed. */
export function useFlagFilterVocabulary({
  environments,
  project,
  text,
  isNeeded,
  areCountsNeeded,
}: VocabularyOptions): FlagFilterVocabulary {
  const counts = useFacetCounts(project, text, areCountsNeeded);
  const options = { enabled: isNeeded, staleTime: 60_000 };
  const { data: types } = useQuery({ ...operationQuery(ListFeatureTypes, {}), ...options });
  const { data: tags } = useQuery({ ...operationQuery(ListTags, {}), ...options });
  const { data: segments } = useSegmentSummaries({ isNeeded });
  const { data: projects } = useProjects();
  return {
    environments,
    types: (types?.types ?? []).map(({ id }) => id),
    tags: (tags?.tags ?? []).map(({ type, value }) => `${type}:${value}`),
    segments: (segments?.segments ?? []).map(({ name }) => name),
    projects: (projects?.projects ?? []).map(({ id }) => id),
    ...(counts === undefined ? {} : { counts }),
  };
}

/** The order of a list, from the URL: by name, or of relevance for what a forgiving text finds, until another one is chosen. */
function sortOf(chosen: string, isRanked: boolean): SortState {
  const [column, order] = chosen.split(' ').filter(Boolean);
  return { column: column ?? (isRanked ? undefined : 'name'), isDescending: order === 'desc' };
}

/** The search for the flags of the list, from the filter and the order in the URL; of all projects, or of the given one. */
export function useFlagListQuery(project: string | undefined, environments: readonly string[]) {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const typed = useMemo(() => readFlagFilter(filter, environments), [filter, environments]);
  const settled = useSettled(filter);
  const parsed = useMemo(() => readFlagFilter(settled, environments), [settled, environments]);
  const isRanked = parsed.query.fuzzy === 'true';
  const sort = sortOf(search['sort'] ?? '', isRanked);
  const setSort = (chosen: string): void => {
    const isDescending = sort.column === chosen && !sort.isDescending;
    const isDefault = chosen === 'name' && !isDescending && !isRanked;
    write({ sort: isDefault ? undefined : `${chosen}${isDescending ? ' desc' : ''}` });
  };
  const scoped = project === undefined ? parsed.query : { ...parsed.query, project: `IS:${project}` };
  const order = { sortBy: sort.column, sortOrder: sort.isDescending ? 'desc' : 'asc' };
  const parsedQuery = sort.column === undefined ? scoped : { ...scoped, ...order };
  // An equal query stays the same object when the environments are loaded or change, so that the list keeps its selection.
  const serializedQuery = JSON.stringify(parsedQuery);
  const query = useMemo(() => JSON.parse(serializedQuery) as SearchQuery, [serializedQuery]);
  const view = { q: filter.trim(), sort: search['sort'] ?? '' };
  const openView = useCallback(
    ({ q, sort: order }: { readonly q: string; readonly sort: string }): void => {
      setFilter(q);
      write({ q: q === '' ? undefined : q, sort: order === '' ? undefined : order });
    },
    [setFilter, write],
  );
  return { query, errors: typed.errors, chips: typed.chips, filter, setFilter, sort, setSort, view, openView };
}

/** The number of rows that one request returns, called a window. The list loads the windows that are on the screen. */
const rowsPageSize = 100;
/** In rows: the next window is read once the second half of the last one is on the screen. */
export const halfWindow = rowsPageSize / 2;
/** Milliseconds for which rows that have left the screen stay in memory. */
const rowsGcMs = 30_000;

/** The query of one window. Its key has the filter, so that the response to an earlier filter never fills the list of a later one. */
function windowQuery(query: SearchQuery, index: number) {
  return {
    ...operationQuery(SearchFeatures, {
      query: { ...query, offset: String(index * rowsPageSize), limit: String(rowsPageSize) },
    }),
    gcTime: rowsGcMs,
  };
}

type Window = Pick<SearchFeaturesResponse, 'features' | 'matches'> | undefined;

// What a list shows of its windows, so that it is rendered when that changes, and not when a request begins.
const windowStates = (all: readonly { readonly data: Window; readonly error: Error | null }[]) =>
  all.map(({ data, error }) => ({ data, error }));

/** The first row that is only similar to the text of a search; undefined if no row on the screen is, or if it is not known. */
function firstSimilarRow(first: Window, from: number, windows: readonly Window[]): number | undefined {
  const all = [[0, first] as const, ...windows.map((window, index) => [from + index, window] as const)];
  for (const [index, window] of all) {
    const at = window?.matches?.findIndex(({ isExact }) => !isExact) ?? -1;
    if (at > 0 || (at === 0 && index === 0)) return index * rowsPageSize + at;
    if (at === 0) {
      const before = all.find(([other]) => other === index - 1)?.[1]?.matches;
      return before?.at(-1)?.isExact === true ? index * rowsPageSize : undefined;
    }
  }
  return undefined;
}

/** Where the rows on the screen are protected, and where changes of them wait: change requests alone know. */
export interface EditStatus {
  readonly isProtected: (project: string, environment: string) => boolean;
  readonly isWaiting: (flag: string, environment: string) => boolean;
}

// The same function for all renders, so that it runs when an answer arrives only.
function combinedStatus(all: readonly { readonly data: ReplyOf<typeof GetEditStatus> | undefined }[]) {
  return {
    isProtected: all
      .flatMap(({ data }) => data?.protectedEnvironments ?? [])
      .map((one) => `${one.project} ${one.environment}`),
    isWaiting: all.flatMap(({ data }) => data?.waitingChanges ?? []).map((one) => `${one.feature} ${one.environment}`),
  };
}

function useEditStatus(windows: readonly Window[]): EditStatus {
  const results = useQueries({
    queries: windows.map((window) => {
      const features = (window?.features ?? []).map(({ name }) => name);
      const projects = [...new Set((window?.features ?? []).map(({ project }) => project))];
      return {
        ...operationQuery(GetEditStatus, { body: { projects, features } }),
        enabled: features.length > 0,
      };
    }),
    combine: combinedStatus,
  });
  return useMemo(() => {
    const [protectedKeys, waitingKeys] = [new Set(results.isProtected), new Set(results.isWaiting)];
    return {
      isProtected: (project, environment) => protectedKeys.has(`${project} ${environment}`),
      isWaiting: (flag, environment) => waitingKeys.has(`${flag} ${environment}`),
    };
  }, [results]);
}

/**
 * The rows of a search, of which only those on the screen are read. Requests for rows that have left the screen are cancelled.
 * @param showsUsage whether their usage is read, too
 */
export function useFlagRows(query: SearchQuery, first: number, last: number, showsUsage: boolean) {
  const client = useQueryClient();
  const firstWindow = useQuery({ ...windowQuery(query, 0), placeholderData: keepPreviousData });
  const total = firstWindow.data?.total ?? 0;
  const exactTotal =
    query.fuzzy === 'true'
      ? total <= rowsPageSize
        ? (firstWindow.data?.matches ?? []).filter(({ isExact }) => isExact).length
        : undefined
      : total;
  const lastWindow = Math.max(0, Math.ceil(total / rowsPageSize) - 1);
  const from = Math.min(Math.floor(first / rowsPageSize), lastWindow);
  const to = Math.min(Math.floor(last / rowsPageSize), lastWindow);
  const indices = Array.from({ length: to - from + 1 }, (_, index) => from + index);
  const others = indices.filter((index) => index > 0);
  const otherWindows = useQueries({
    queries: others.map((index) => windowQuery(query, index)),
    combine: windowStates,
  });
  const isOutdated = firstWindow.isPlaceholderData;
  const windowAt = (index: number): Window =>
    index === 0 ? firstWindow.data : otherWindows[others.indexOf(index)]?.data;
  // Those that are on the screen, also while the rows of another filter are loading.
  const windows = indices.map(windowAt);
  const editStatus = useEditStatus(windows);
  const usageOf = useRecentUsage(
    windows.map((window) => window?.features),
    showsUsage,
  );
  const windowOf = (row: number): Window => windowAt(Math.floor(row / rowsPageSize));
  // Prefetched only when the second half of the last window is on the screen: else each key press in the filter would cause two searches.
  const isNextNeeded = !isOutdated && to < lastWindow && last >= to * rowsPageSize + halfWindow;
  useEffect(() => {
    if (isNextNeeded) void client.prefetchQuery(windowQuery(query, to + 1));
  }, [client, query, to, isNextNeeded]);
  return {
    total,
    /** how many flags are not only similar to the words of the filter; undefined if it is not known */
    exactTotal,
    isLoaded: firstWindow.data !== undefined,
    /** whether the rows are those of an earlier filter, while those of the current one are loading */
    isOutdated,
    error: firstWindow.error ?? otherWindows.find(({ error }) => error !== null)?.error ?? null,
    refetch: () => client.invalidateQueries({ queryKey: operationKey(SearchFeatures) }),
    /** The flag of a row; undefined while it is being read. */
    rowAt: (row: number): SearchResultFeature | undefined => windowOf(row)?.features[row % rowsPageSize],
    /** How a row matches the text of the search; undefined without one. */
    matchAt: (row: number) => windowOf(row)?.matches?.[row % rowsPageSize],
    firstSimilar:
      query.sortBy === undefined && !isOutdated ? firstSimilarRow(firstWindow.data, from, windows) : undefined,
    editStatus,
    usageOf,
  };
}

interface SelectedAndActiveFlagsOptions {
  readonly query: SearchQuery;
  /** the number of flags that the query finds */
  readonly total: number;
  readonly rowAt: (row: number) => SearchResultFeature | undefined;
}

/** The selected flags of the list, and the active row, on which shortcuts act. Another query finds other flags and resets both. */
export function useSelectedAndActiveFlags({ query, total, rowAt }: SelectedAndActiveFlagsOptions) {
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  /** -1 before a row is chosen */
  const [activeRow, setActiveRow] = useState(-1);
  /** the row of the last selection, where a range begins; -1 before the first */
  const anchor = useRef(-1);
  /** of a forgiving query the names of the flags that are not only similar, once all have been selected */
  const [exactNames, setExactNames] = useState<ReadonlySet<string> | undefined>();
  const [lastQuery, setLastQuery] = useState(query);
  if (lastQuery !== query) {
    setLastQuery(query);
    setSelection(emptySelection);
    setActiveRow(-1);
    setExactNames(undefined);
  }
  const currentQuery = useRef(query);
  useEffect(() => {
    anchor.current = -1;
    currentQuery.current = query;
  }, [query]);

  /** Selects all flags that match; of those that a forgiving filter finds, the ones that are not only similar, which have to be read. */
  const selectAll = async (): Promise<void> => {
    if (query.fuzzy !== 'true') {
      setSelection(fullSelection);
      return;
    }
    try {
      const names = await (await import('./bulk-action.ts')).readExactNames(query);
      if (currentQuery.current !== query) return;
      setExactNames(names);
      // What has been selected or deselected meanwhile is the newer choice.
      setSelection((before) => (before === selection ? { kind: 'some', names } : before));
    } catch (error) {
      notifyError(error);
    }
  };

  /** Selects or deselects the flag of a row or, for a range, of all rows from the anchor on. */
  const select = useCallback(
    (row: number, name: string, isRange: boolean) => {
      const from = isRange && anchor.current >= 0 ? anchor.current : row;
      const [low, high] = [Math.min(from, row), Math.max(from, row)];
      const names = Array.from({ length: high - low + 1 }, (_, index) => rowAt(low + index)?.name).filter(
        (rowName) => rowName !== undefined,
      );
      anchor.current = row;
      setActiveRow(row);
      setSelection((before) => withSelected(before, names, !isSelected(before, name)));
    },
    [rowAt],
  );
  const moveActiveRow = (step: number): void => {
    if (total > 0) setActiveRow((row) => Math.max(0, Math.min(total - 1, row + step)));
  };
  const activeFlag = activeRow < 0 ? undefined : rowAt(activeRow);
  return {
    selection,
    setSelection,
    selectAll,
    exactCount: exactNames?.size,
    activeRow,
    activeFlag,
    select,
    moveActiveRow,
  };
}

interface FlagSwitch {
  readonly flag: SearchResultFeature;
  readonly environment: string;
  readonly enabled: boolean;
  /** whether the person was told that it becomes part of a change request; undefined where nothing was said */
  readonly isProposal?: boolean | undefined;
}

/**
 * The actions of the rows of the list, as one object for all rows and renders, so that scrolling renders new rows only. A switch takes
 * effect immediately, or as a change request where the environment is protected; in production after a question.
 * @param productions the names of the environments of production
 */
export function useFlagRowActions(select: RowActions['select'], productions: ReadonlySet<string>) {
  const addFavorite = useOperationMutation(AddFavoriteFeature, 'handled');
  const removeFavorite = useOperationMutation(RemoveFavoriteFeature, 'handled');
  const [asked, setAsked] = useState<FlagSwitch | undefined>();
  const switchFlag = useMutation<void, ApiError, FlagSwitch>({
    mutationFn: async ({ flag, environment, enabled, isProposal }, { client }) => {
      const path = { projectId: flag.project, environment };
      // Loaded when a switch is first pressed, since the list is often what is loaded first.
      const { readProtectedEnvironments } = await import('../../changes/edit-protection.tsx');
      const isProtected = (await readProtectedEnvironments(client, flag.project)).includes(environment);
      if (isProposal !== undefined && isProposal !== isProtected) {
        // It is not done in another way than was said.
        notify(`${environment} is ${isProtected ? 'now' : 'no longer'} protected: please answer again.`);
        setAsked({ flag, environment, enabled });
      } else if (isProtected) {
        const change = { feature: flag.name, action: 'updateEnabled', payload: { enabled } } as const;
        const { notifyProposed, propose } = await import('../../changes/propose.ts');
        notifyProposed(await propose({ project: flag.project, environment }, [change]));
      } else {
        const operation = enabled ? EnableFeature : DisableFeature;
        await call(operation, { params: { ...path, featureName: flag.name }, ifMatch: undefined });
        notify(`${flag.name} is ${enabled ? 'on' : 'off'} in ${environment}.`);
      }
    },
  });
  /** by flag, the environment in which its switch is pending */
  const [pendingEnvironments, setPendingEnvironments] = useState<ReadonlyMap<string, string>>(new Map());
  const ask = (flag: SearchResultFeature, environment: string, enabled: boolean): void => {
    if (productions.has(environment)) setAsked({ flag, environment, enabled });
    else void toggle({ flag, environment, enabled });
  };
  const confirm = (isProposal: boolean): void => {
    setAsked(undefined);
    if (asked !== undefined) void toggle({ ...asked, isProposal });
  };
  const toggle = async (pressed: FlagSwitch): Promise<void> => {
    const { flag, environment } = pressed;
    setPendingEnvironments((all) => new Map([...all, [flag.name, environment]]));
    try {
      await switchFlag.mutateAsync(pressed);
    } catch (error) {
      notifyError(error);
    } finally {
      setPendingEnvironments((all) => new Map([...all].filter(([name]) => name !== flag.name)));
    }
  };
  const toggleFavorite = async (flag: SearchResultFeature, isFavorite: boolean): Promise<void> => {
    try {
      const mutation = isFavorite ? addFavorite : removeFavorite;
      await mutation.mutateAsync({ params: { projectId: flag.project, featureName: flag.name } });
    } catch (error) {
      notifyError(error);
    }
  };
  const latestHandlers = useRef({ select, ask, toggleFavorite });
  useEffect(() => {
    latestHandlers.current = { select, ask, toggleFavorite };
  });
  const [actions] = useState<RowActions>(() => ({
    select: (...args) => latestHandlers.current.select(...args),
    toggle: (...args) => latestHandlers.current.ask(...args),
    toggleFavorite: (...args) => void latestHandlers.current.toggleFavorite(...args),
  }));
  return { pendingEnvironments, actions, asked, confirm, cancel: () => setAsked(undefined) };
}
