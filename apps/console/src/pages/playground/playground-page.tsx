import { EvaluatePlaygroundTable, type PlaygroundTableBody } from '@bunting/contracts';
import { keepPreviousData, useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { call } from '../../api/call.ts';
import { operationKey, useEnvironments } from '../../api/queries-and-mutations.ts';
import { useMaySomewhere } from '../../api/permissions.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { Page } from '../../components/layout/page.tsx';
import { useFilterInUrl } from '../../filtering/search-parameter.ts';
import { CreateFlagButton } from '../flags/create-flag-button.tsx';
import { ContextsEditor, PlaygroundInputFields } from './playground-input-fields.tsx';
import { countChangedResults, leavesFlagsOut, playgroundInputOf, playgroundTableBody } from './playground-input.ts';
import { type ResultCell, ResultReasonsDialog } from './result-reasons-dialog.tsx';
import { ResultGrid } from './result-grid.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';
import { formatCount } from '../../text/format-number.ts';

const texts = {
  summary: (flags: number, total: number, contexts: number, changed: number, compares: boolean) =>
    `${flags < total ? `${flags} of ${formatCount(total, 'flag')}` : formatCount(total, 'flag')}, ${formatCount(contexts, 'context')}${
      compares ? `, ${formatCount(changed, 'result')} ${changed === 1 ? 'changes' : 'change'}` : ''
    }`,
} as const;

/** Milliseconds from an event until the table is evaluated again, once for all events in that time: a bulk change causes many. */
const evaluationThrottleMs = 500;

function useTable(body: PlaygroundTableBody) {
  return useInfiniteQuery({
    queryKey: operationKey(EvaluatePlaygroundTable, body),
    queryFn: ({ pageParam, signal }) =>
      call(EvaluatePlaygroundTable, { body: pageParam === null ? body : { ...body, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: body.environments.length > 0,
    placeholderData: keepPreviousData,
  });
}

/** The table, evaluated again after flags or segments have changed: automatically while it has one page, else when the user asks for it. */
function useLiveTable(body: PlaygroundTableBody) {
  const client = useQueryClient();
  const table = useTable(body);
  const key = JSON.stringify(body);
  const [outdatedKey, setOutdatedKey] = useState<string | undefined>();
  const evaluationTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const scheduleEvaluation = (): void => {
    if (evaluationTimer.current !== undefined) return;
    const queryKey = operationKey(EvaluatePlaygroundTable, body);
    evaluationTimer.current = setTimeout(() => {
      evaluationTimer.current = undefined;
      const pageCount = client.getQueryData<{ readonly pages: readonly unknown[] }>(queryKey)?.pages.length ?? 0;
      if (pageCount > 1 || client.isFetching({ queryKey }) > 0) setOutdatedKey(key);
      else void client.invalidateQueries({ queryKey });
    }, evaluationThrottleMs);
  };
  useEventFeed(({ type }) => {
    if (/^(feature|segment|change)-/.test(type)) scheduleEvaluation();
  });
  const evaluateAgain = (): void => {
    setOutdatedKey(undefined);
    void table.refetch();
  };
  return { table, isOutdated: outdatedKey === key, evaluateAgain };
}

/** Evaluates flags by the server's own rules for any contexts, and says why each is on or off. The URL has all that the user chooses. */
export function PlaygroundPage() {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const contexts = useFilterInUrl('contexts');
  const [openCell, setOpenCell] = useState<ResultCell | undefined>();
  const { data: environmentList } = useEnvironments();
  const enabledEnvironments = (environmentList?.environments ?? [])
    .filter(({ enabled }) => enabled)
    .map(({ name }) => name);
  const input = playgroundInputOf(search, enabledEnvironments);
  const { environments, changeRequest } = input;
  const { table, isOutdated, evaluateAgain } = useLiveTable(
    playgroundTableBody(input, search['q'] ?? '', contexts.filter),
  );
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = table;
  const onReachEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  const pages = table.data?.pages ?? [];
  const firstPage = pages[0];
  const flags = pages.flatMap(({ features }) => features);
  const hasChosenFlags = leavesFlagsOut(input, filter);
  const mayCreate = useMaySomewhere()(['CREATE_FEATURE']);
  const ignoredFields = firstPage?.warnings.invalidContextProperties ?? [];
  return (
    <Page title="Playground" fillsWindow>
      <div className={styles['setup']}>
        <ContextsEditor value={contexts.filter} onChange={contexts.setFilter} />
        <PlaygroundInputFields
          input={input}
          enabledEnvironments={enabledEnvironments}
          filter={filter}
          onFilter={setFilter}
          write={write}
        />
      </div>
      <div className={styles['status']}>
        <span role="status">
          {firstPage !== undefined &&
            texts.summary(
              flags.length,
              firstPage.total,
              firstPage.contexts.length,
              countChangedResults(flags),
              changeRequest !== undefined,
            )}
        </span>
        <span className={layout['small']}>The address of this page holds all that is chosen here: share it.</span>
      </div>
      {enabledEnvironments.length > 0 && environments.length === 0 && <Notice>Choose at least one environment.</Notice>}
      {ignoredFields.length > 0 && (
        <Notice tone="warning">These fields were ignored: {ignoredFields.join(', ')}.</Notice>
      )}
      {firstPage !== undefined && isOutdated && (
        <Notice
          actions={
            <Button size="small" isPending={table.isFetching} onPress={evaluateAgain}>
              Evaluate again
            </Button>
          }
        >
          Flags or segments have changed since these results were evaluated.
        </Notice>
      )}
      <ErrorNotice error={table.error} retry={() => void table.refetch()} />
      {firstPage === undefined && table.error === null && environments.length > 0 && <Loading />}
      {firstPage !== undefined && flags.length === 0 && table.error === null && (
        <EmptyState
          title={hasChosenFlags ? 'No flag matches' : 'No flags yet'}
          action={
            hasChosenFlags ? (
              <Button onPress={() => write({ q: undefined, projects: undefined, flag: undefined, concerned: 'false' })}>
                Show all flags
              </Button>
            ) : (
              mayCreate && <CreateFlagButton project={undefined} />
            )
          }
        >
          {hasChosenFlags
            ? 'Choose other projects, or another text in the name.'
            : 'Flags are tried here for any user, before and after they are on.'}
        </EmptyState>
      )}
      {firstPage !== undefined && flags.length > 0 && environments.length > 0 && (
        <ResultGrid
          environments={Object.keys(flags[0]?.environments ?? {})}
          contexts={firstPage.contexts}
          flags={flags}
          isOutdated={table.isPlaceholderData || table.error !== null}
          onOpen={setOpenCell}
          onReachEnd={onReachEnd}
        />
      )}
      {openCell !== undefined && (
        <ResultReasonsDialog {...openCell} changeRequest={changeRequest} onClose={() => setOpenCell(undefined)} />
      )}
    </Page>
  );
}
