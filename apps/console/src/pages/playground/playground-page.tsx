import { EvaluatePlaygroundTable, type PlaygroundTableBody, SearchChangeRequests } from '@bunting/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query';
import { useCallback, useRef, useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { call } from '../../api/call.ts';
import { operationQuery, useEnvironments, useProjects } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { EmptyState, ErrorNotice, Loading, Notice } from '../../components/content/content.tsx';
import { Checkbox, ComboBox, Select, Switch, TextField } from '../../components/forms/fields.tsx';
import { Page } from '../../components/layout/page.tsx';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { changeRequestsMessages } from '../../messages/change-requests.ts';
import { playgroundMessages as text } from '../../messages/playground.ts';
import { ContextsField } from './contexts-field.tsx';
import { parseContext } from './context-text.ts';
import { type CellAddress, ResultReasonsDialog } from './result-reasons-dialog.tsx';
import { ResultGrid } from './result-grid.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

const listOf = (value: string | undefined): string[] => (value ?? '').split(',').filter((one) => one !== '');
const maxOpenRequests = 50;
/** Debounce of the changes of others before the table is evaluated again, in milliseconds: a bulk change is many events. */
const liveDelayMs = 500;

/** The change requests that results can be compared with: those that are open, and the one of the address. */
const useOpenRequests = (chosen: number | undefined) => {
  const { data } = useQuery({
    ...operationQuery(SearchChangeRequests, { query: { state: 'IS:open', limit: maxOpenRequests } }),
    staleTime: 30_000,
  });
  const open = (data?.changeRequests ?? []).map(({ id, title, project, environment }) => ({
    id: String(id),
    label: title ?? changeRequestsMessages.untitled(id),
    about: `${project} / ${environment}`,
  }));
  const isListed = chosen === undefined || open.some(({ id }) => id === String(chosen));
  return [
    { id: 'none', label: text.noComparison },
    ...(isListed ? [] : [{ id: String(chosen), label: changeRequestsMessages.untitled(chosen) }]),
    ...open,
  ];
};

const useTable = (body: PlaygroundTableBody) =>
  useInfiniteQuery({
    queryKey: [EvaluatePlaygroundTable.operationId, body],
    queryFn: ({ pageParam, signal }) =>
      call(EvaluatePlaygroundTable, { body: pageParam === null ? body : { ...body, after: pageParam }, signal }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: body.environments.length > 0,
    placeholderData: keepPreviousData,
  });

/** Evaluates flags by the server's own rules for any contexts, and says why each is on or off. All that is chosen is in the address. */
export const PlaygroundPage = () => {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const contexts = useFilterInUrl('contexts');
  const [opened, setOpened] = useState<CellAddress | undefined>();
  const client = useQueryClient();
  const { data: environmentList } = useEnvironments();
  const { data: projectList } = useProjects();
  const all = (environmentList?.environments ?? []).filter(({ enabled }) => enabled).map(({ name }) => name);
  const environments =
    search['environments'] === undefined ? all : all.filter((name) => listOf(search['environments']).includes(name));
  const projects = listOf(search['projects']);
  const flag = search['flag'];
  const changeRequest = /^[1-9]\d{0,9}$/.test(search['changeRequest'] ?? '')
    ? Number(search['changeRequest'])
    : undefined;
  const onlyConcerned = search['concerned'] !== 'false';
  const requests = useOpenRequests(changeRequest);
  const lines = contexts.filter.split('\n').slice(0, 50);
  const parsed = lines.map((line) => parseContext(line).context);
  const nonEmptyContexts = parsed.filter((context) => Object.keys(context).length > 0);
  const body: PlaygroundTableBody = {
    environments,
    contexts: nonEmptyContexts.length === 0 ? [{}] : nonEmptyContexts,
    ...(projects.length === 0 ? {} : { projects }),
    ...(flag === undefined ? {} : { features: [flag] }),
    ...((search['q'] ?? '').trim() === '' ? {} : { query: (search['q'] ?? '').trim().slice(0, 100) }),
    ...(changeRequest === undefined ? {} : { changeRequest, onlyConcerned: onlyConcerned && flag === undefined }),
  };
  const table = useTable(body);
  // A single page is refetched automatically. With more pages, or while an evaluation runs, the user starts the refetch.
  const key = JSON.stringify(body);
  const [outdated, setOutdated] = useState<string | undefined>();
  const reading = useRef<ReturnType<typeof setTimeout>>(undefined);
  const evaluateLater = (): void => {
    if (reading.current !== undefined) return;
    const queryKey = [EvaluatePlaygroundTable.operationId, body];
    reading.current = setTimeout(() => {
      reading.current = undefined;
      const pageCount = client.getQueryData<{ readonly pages: readonly unknown[] }>(queryKey)?.pages.length ?? 0;
      if (pageCount > 1 || client.isFetching({ queryKey }) > 0) setOutdated(key);
      else void client.invalidateQueries({ queryKey });
    }, liveDelayMs);
  };
  useEventFeed(({ type }) => {
    if (/^(feature|segment|change)-/.test(type)) evaluateLater();
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = table;
  const onReachEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  const pages = table.data?.pages ?? [];
  const first = pages[0];
  const isOutdated = first !== undefined && outdated === key;
  const flags = pages.flatMap(({ features }) => features);
  const changed = flags.reduce(
    (sum, { environments: cells }) =>
      sum +
      Object.values(cells)
        .flat()
        .filter(({ proposed }) => proposed !== undefined).length,
    0,
  );
  const ignored = first?.warnings.invalidContextProperties ?? [];
  return (
    <Page title={text.page} fillsWindow>
      <div className={styles['setup']}>
        <ContextsField value={contexts.filter} onChange={contexts.setFilter} />
        <div className={styles['group']}>
          <div className={styles['group']} role="group" aria-label={text.environments}>
            <div className={styles['head']}>
              <h2>{text.environments}</h2>
            </div>
            <div className={styles['options']}>
              {all.map((name) => (
                <Checkbox
                  key={name}
                  isSelected={environments.includes(name)}
                  onChange={(isSelected) =>
                    write({
                      environments: all
                        .filter((one) => (one === name ? isSelected : environments.includes(one)))
                        .join(','),
                    })
                  }
                >
                  {name}
                </Checkbox>
              ))}
            </div>
          </div>
          <div className={styles['pair']}>
            {flag === undefined ? (
              <TextField label={text.filter} value={filter} onChange={setFilter} />
            ) : (
              <Checkbox isSelected onChange={() => write({ flag: undefined })}>
                {text.onlyFlag(flag)}
              </Checkbox>
            )}
            <ComboBox
              key={projects.join()}
              label={text.addProject}
              placeholder={text.allProjects}
              options={(projectList?.projects ?? [])
                .filter(({ id }) => !projects.includes(id))
                .map(({ id, name }) => ({ id, label: name, about: id }))}
              value={null}
              onChange={(id) => write({ projects: [...projects, id].join(',') })}
            />
          </div>
          {projects.length > 0 && (
            <div className={styles['options']} role="group" aria-label={text.projects}>
              {projects.map((id) => (
                <Checkbox
                  key={id}
                  isSelected
                  onChange={() => write({ projects: projects.filter((one) => one !== id).join(',') || undefined })}
                >
                  {id}
                </Checkbox>
              ))}
            </div>
          )}
          <Select
            label={text.changeRequest}
            options={requests}
            value={changeRequest === undefined ? 'none' : String(changeRequest)}
            onChange={(id) => write({ changeRequest: id === 'none' ? undefined : id })}
          />
          {changeRequest !== undefined && flag === undefined && (
            <Switch isSelected={onlyConcerned} onChange={(isOn) => write({ concerned: isOn ? undefined : 'false' })}>
              {text.onlyConcerned}
            </Switch>
          )}
        </div>
      </div>
      <div className={styles['status']}>
        <span role="status">
          {first !== undefined &&
            text.summary(flags.length, first.total, first.contexts.length, changed, changeRequest !== undefined)}
        </span>
        <span className={layout['small']}>{text.shared}</span>
      </div>
      {all.length > 0 && environments.length === 0 && <Notice>{text.everyEnvironment}</Notice>}
      {ignored.length > 0 && <Notice tone="warning">{text.ignored(ignored)}</Notice>}
      {isOutdated && (
        <Notice
          actions={
            <Button
              size="small"
              isPending={table.isFetching}
              onPress={() => {
                setOutdated(undefined);
                void table.refetch();
              }}
            >
              {text.evaluateAgain}
            </Button>
          }
        >
          {text.outdated}
        </Notice>
      )}
      {table.error !== null && <ErrorNotice error={table.error} retry={() => void table.refetch()} />}
      {first === undefined && table.error === null && environments.length > 0 && <Loading />}
      {first !== undefined && flags.length === 0 && table.error === null && (
        <EmptyState title={text.empty}>{text.emptyHelp}</EmptyState>
      )}
      {first !== undefined && flags.length > 0 && environments.length > 0 && (
        <ResultGrid
          environments={Object.keys(flags[0]?.environments ?? {})}
          contexts={first.contexts}
          flags={flags}
          isOld={table.isPlaceholderData || table.error !== null}
          onOpen={setOpened}
          onReachEnd={onReachEnd}
        />
      )}
      {opened !== undefined && (
        <ResultReasonsDialog {...opened} changeRequest={changeRequest} onClose={() => setOpened(undefined)} />
      )}
    </Page>
  );
};
