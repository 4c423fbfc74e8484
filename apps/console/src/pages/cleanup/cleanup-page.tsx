import {
  type CleanupReason,
  cleanupReasons,
  type CleanupQuery,
  CountCleanupFeatures,
  ListCleanupFeatures,
} from '@bunting/contracts';
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { useCallback, useState } from 'react';
import { call } from '../../api/call.ts';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { operationQuery, useProjects } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { Select, TextField } from '../../components/forms/fields.tsx';
import { Page } from '../../components/layout/page.tsx';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { cleanupMessages as text } from '../../messages/cleanup.ts';
import { BulkDialog } from '../flags/bulk-dialog.tsx';
import {
  selectedCountOf,
  fullSelection,
  isSelected,
  emptySelection,
  type FlagSelection,
  withSelected,
} from '../flags/flag-selection.ts';
import { archivableFlagOf, readCleanupSelection } from './read-cleanup-selection.ts';
import { CleanupTable } from './cleanup-table.tsx';
import { CleanupReportDialog } from './cleanup-report-dialog.tsx';
import { UnknownFlagsTable } from './unknown-flags-table.tsx';
import { SelectionBar } from '../flags/selection-bar.tsx';
import styles from './cleanup.module.css';

const dayChoices = [7, 14, 30, 60, 90, 180, 365];
const defaultDays = 30;
const pageSize = 200;
/** Milliseconds until cached counts are stale; archiving invalidates them. */
const countsStaleMs = 60_000;
type View = CleanupReason | 'all' | 'unknown';
const views: readonly View[] = ['all', ...cleanupReasons, 'unknown'];

interface ReasonsProps {
  readonly view: View;
  readonly counts: Readonly<Record<CleanupReason | 'all', number>> | undefined;
  /** the counts of what is chosen are on their way */
  readonly isCounting: boolean;
}

const Reasons = ({ view, counts, isCounting }: ReasonsProps) => (
  <nav aria-label={text.reasons} className={styles['reasons']}>
    {views.map((one) => (
      <Link
        key={one}
        to="."
        search={(before) => ({ ...before, reason: one === 'all' ? undefined : one })}
        aria-current={one === view ? 'page' : undefined}
        className={styles['reason'] ?? ''}
        activeOptions={{ includeSearch: true, exact: true }}
      >
        {text.reason[one]}
        {one !== 'unknown' && counts !== undefined && (
          <span className={styles['count']}>{text.formatNumber(counts[one])}</span>
        )}
      </Link>
    ))}
    {isCounting && (
      <span role="status" className={styles['counting']}>
        {text.counting}
      </span>
    )}
  </nav>
);

const useCleanupList = (query: CleanupQuery, isEnabled: boolean) =>
  useInfiniteQuery({
    queryKey: [ListCleanupFeatures.operationId, query],
    queryFn: ({ pageParam, signal }) =>
      call(ListCleanupFeatures, {
        query: { ...query, limit: pageSize, ...(pageParam === null ? {} : { after: pageParam }) },
        signal,
      }),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
    enabled: isEnabled,
    placeholderData: keepPreviousData,
  });

/** Flags that may be no longer needed, by reason, to be archived in bulk or listed for the owners of the code. */
export const CleanupPage = ({ project }: { readonly project?: string | undefined }) => {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const { data: projects } = useProjects();
  const view = views.find((one) => one === search['reason']) ?? 'all';
  const days = dayChoices.find((one) => String(one) === search['days']) ?? defaultDays;
  const scope = { days, ...(project === undefined ? {} : { project }) };
  const typed = (search['q'] ?? '').trim().slice(0, 100);
  const query: CleanupQuery = {
    ...scope,
    ...(view === 'all' || view === 'unknown' ? {} : { reason: view }),
    ...(typed === '' ? {} : { query: typed }),
  };
  // The server scans all flags for them, which takes seconds where there are very many.
  const counts = useQuery({
    ...operationQuery(CountCleanupFeatures, { query: scope }),
    placeholderData: keepPreviousData,
    staleTime: countsStaleMs,
  });
  const list = useCleanupList(query, view !== 'unknown');
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  const [dialog, setDialog] = useState<'archive' | 'text' | undefined>();
  const key = JSON.stringify(query);
  const [listed, setListed] = useState(key);
  if (listed !== key) {
    setListed(key);
    setSelection(emptySelection);
  }
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = list;
  const onReachEnd = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);

  const flags = (list.data?.pages ?? []).flatMap(({ features }) => features);
  // Without a search text the counts have the total; with one, it is unknown until the last page is loaded.
  const known = typed === '' && view !== 'unknown' ? counts.data?.[view] : undefined;
  const total = hasNextPage ? Math.max(known ?? 0, flags.length + 1) : flags.length;
  const selected = selectedCountOf(selection, total);
  const title = project === undefined ? text.page : text.ofProject(project);
  // For selected flags that are not loaded, the results of the action report refusals.
  const selectedProjects = new Set(flags.filter(({ name }) => isSelected(selection, name)).map((flag) => flag.project));
  const mayArchive = [...selectedProjects].every((one) => may('DELETE_FEATURE', { project: one }));
  const close = (): void => setDialog(undefined);
  return (
    <Page
      title={title}
      fillsWindow
      {...(project === undefined
        ? {}
        : {
            crumbs: [
              <Link key="all" to="/cleanup">
                {text.page}
              </Link>,
              <Link key="project" to="/projects/$project/flags" params={{ project }}>
                {project}
              </Link>,
            ],
          })}
    >
      <Reasons
        view={view}
        counts={counts.data}
        isCounting={counts.isFetching && (counts.data === undefined || counts.isPlaceholderData)}
      />
      <div className={styles['filters']}>
        <TextField label={text.filter} value={filter} onChange={setFilter} />
        {view !== 'unknown' && (
          <Select
            label={text.days}
            options={dayChoices.map((one) => ({ id: String(one), label: text.dayOptions(one) }))}
            value={String(days)}
            onChange={(id) => write({ days: id === String(defaultDays) ? undefined : id })}
          />
        )}
        <Select
          label={text.project}
          options={[
            { id: ' all', label: text.allProjects },
            ...(projects?.projects ?? []).map(({ id, name }) => ({ id, label: name })),
          ]}
          value={project ?? ' all'}
          onChange={(id) =>
            void navigate({
              ...(id === ' all'
                ? { to: '/cleanup' as const }
                : { to: '/projects/$project/cleanup' as const, params: { project: id } }),
              search,
            })
          }
        />
      </div>
      <p className={styles['explained']}>{text.explained(days)[view]}</p>
      {view === 'unknown' ? (
        <UnknownFlagsTable project={project} filter={filter} />
      ) : (
        <>
          <SelectionBar
            selection={selection}
            total={list.data === undefined ? undefined : total}
            onChange={setSelection}
          >
            {mayArchive && (
              <Button size="small" icon="archive" onPress={() => setDialog('archive')}>
                {text.archive}
              </Button>
            )}
            <Button size="small" icon="copy" onPress={() => setDialog('text')}>
              {text.copyText}
            </Button>
          </SelectionBar>
          {list.error !== null && <ErrorNotice error={list.error} retry={() => void list.refetch()} />}
          {list.data === undefined && list.error === null && <Loading />}
          {list.data !== undefined && flags.length === 0 && (
            <EmptyState title={typed === '' ? text.empty : text.noMatch}>
              {typed === '' ? text.emptyHelp : undefined}
            </EmptyState>
          )}
          {flags.length > 0 && (
            <CleanupTable
              label={title}
              flags={flags}
              total={total}
              isOld={list.isPlaceholderData}
              selectedCount={selected}
              isSelected={(name) => isSelected(selection, name)}
              onSelect={(names, isOn) => setSelection((before) => withSelected(before, names, isOn))}
              onSelectAll={(isOn) => setSelection(isOn ? fullSelection : emptySelection)}
              onReachEnd={onReachEnd}
            />
          )}
        </>
      )}
      {dialog === 'archive' && (
        <BulkDialog
          action={{ kind: 'archive' }}
          flags={{
            key: [query, selection],
            count: selected,
            read: async (signal) => (await readCleanupSelection(query, selection, signal)).map(archivableFlagOf),
          }}
          onClose={() => {
            close();
            setSelection(emptySelection);
          }}
        />
      )}
      {dialog === 'text' && <CleanupReportDialog query={query} selection={selection} onClose={close} />}
    </Page>
  );
};

/** The cleanup of the project in the address. */
export const ProjectCleanupPage = () => {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <CleanupPage key={project} project={project} />;
};
