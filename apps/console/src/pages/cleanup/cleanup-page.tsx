import {
  type CleanupReason,
  CountCleanupFeatures,
  GetEditStatus,
  ListCleanupFeatures,
  ListUnknownFlags,
} from '@bunting/contracts';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useEffect, useRef, useState } from 'react';
import { useMayPropose, useMaySomewhere, usePermissionCheck } from '../../api/permissions.ts';
import { useEventBatches } from '../../api/event-feed.ts';
import { operationKey, operationQuery, useProjects } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { ComboBox, Select } from '../../components/forms/selects.tsx';
import { useProjectName } from '../../components/content/project-name.tsx';
import { ListPage } from '../projects/project-tabs.tsx';
import { useFilterInUrl } from '../../filtering/search-parameter.ts';
import {
  selectedCountOf,
  fullSelection,
  isSelected,
  emptySelection,
  withSelected,
  SelectionBar,
} from '../flags/selection-bar.tsx';
import {
  archivableFlagOf,
  readCleanupSelection,
  type CleanupView,
  cleanupQueryOf,
  cleanupViews,
  dayChoices,
  defaultDays,
  useCleanupCounts,
  useCleanupList,
  useCleanupSelection,
  countsStaleMs,
} from './use-cleanup-list.ts';
import { CleanupTable } from './cleanup-table.tsx';
import { UnknownFlagsFilters, UnknownFlagsTable } from './unknown-flags-table.tsx';
import styles from './cleanup.module.css';
import { formatNumber } from '../../text/format-number.ts';
import { formatCount } from '../../text/format-number.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const BulkDialog = lazyPart(() => import('../flags/bulk-dialog.tsx').then(({ BulkDialog }) => BulkDialog));
const CleanupReportDialog = lazyPart(() =>
  import('./cleanup-report-dialog.tsx').then(({ CleanupReportDialog }) => CleanupReportDialog),
);

const texts = {
  reason: {
    all: 'All',
    stale: 'Stale',
    potentiallyStale: 'Past lifetime',
    allOn: 'On for all',
    allOff: 'Off for all',
    notSeen: 'No longer used',
    neverSeen: 'Never used',
    unknown: 'Unknown flags',
  },
  formatNumber: formatNumber,
} as const;

/** So many projects can be asked about at once. */
const maxAskedProjects = 300;

/** The option for all projects: its blank cannot be in the id of a project. */
const allProjects = ' all';

interface ReasonsProps {
  readonly view: CleanupView;
  readonly counts: Readonly<Record<CleanupReason | 'all', number>> | undefined;
}

/** The reasons, in one line. */
function Reasons({ view, counts }: ReasonsProps) {
  const bar = useRef<HTMLElement>(null);
  // With them the reasons are wider.
  const hasCounts = counts !== undefined;
  useEffect(() => {
    bar.current?.querySelector('[aria-current=page]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
  }, [view, hasCounts]);
  return (
    <nav ref={bar} aria-label="Reason" className={styles['reasons']}>
      {cleanupViews.map((reason) => (
        <Link
          key={reason}
          to="."
          search={(before) => ({ ...before, reason: reason === 'all' ? undefined : reason })}
          aria-current={reason === view ? 'page' : undefined}
          className={styles['reason'] ?? ''}
          activeOptions={{ includeSearch: true, exact: true }}
        >
          {texts.reason[reason]}
          {reason !== 'unknown' && counts !== undefined && (
            <span className={styles['count']}>{texts.formatNumber(counts[reason])}</span>
          )}
        </Link>
      ))}
    </nav>
  );
}

interface FiltersProps {
  readonly project: string | undefined;
  readonly view: CleanupView;
  readonly days: number;
  readonly filterInUrl: ReturnType<typeof useFilterInUrl>;
}

function Filters({ project, view, days, filterInUrl: { filter, setFilter, search, write } }: FiltersProps) {
  const navigate = useNavigate();
  const { data: projects } = useProjects();
  return (
    <div className={styles['filters']}>
      <TextField label="Name contains" value={filter} onChange={setFilter} />
      {view !== 'unknown' && (
        <Select
          label="For at least"
          options={dayChoices.map((choice) => ({ id: String(choice), label: formatCount(choice, 'day') }))}
          value={String(days)}
          onChange={(id) => write({ days: id === String(defaultDays) ? undefined : id })}
        />
      )}
      {project === undefined && (
        <ComboBox
          label="Project"
          options={[
            { id: allProjects, label: 'All projects' },
            ...(projects?.projects ?? []).map(({ id, name }) => ({ id, label: name })),
          ]}
          value={allProjects}
          onChange={(id) => {
            if (id !== allProjects)
              void navigate({ to: '/projects/$project/cleanup', params: { project: id }, search });
          }}
        />
      )}
      {view === 'unknown' && <UnknownFlagsFilters project={project} />}
    </div>
  );
}

/** Flags that may be no longer needed, by reason, to be archived in bulk or listed for the owners of the code. */
export function CleanupPage({ project }: { readonly project?: string | undefined }) {
  const filterInUrl = useFilterInUrl();
  const hasPermission = usePermissionCheck();
  const maySomewhere = useMaySomewhere();
  const mayPropose = useMayPropose();
  const { view, days, scope, query } = cleanupQueryOf(filterInUrl.search, project);
  const counts = useCleanupCounts(scope);
  const { list, flags, total, onReachEnd } = useCleanupList(query, view, counts);
  const [selection, setSelection] = useCleanupSelection(query);
  const [dialog, setDialog] = useState<'archive' | 'report' | undefined>();
  const client = useQueryClient();
  useEventBatches(
    ({ type }) => /^(feature|segment|project)-/.test(type),
    () =>
      Promise.all(
        [ListCleanupFeatures, ListUnknownFlags].map((read) =>
          client.invalidateQueries({ queryKey: operationKey(read) }),
        ),
      ),
  );
  useEventBatches(
    ({ type }) => /^(feature|segment|project)-/.test(type),
    () => client.invalidateQueries({ queryKey: operationKey(CountCleanupFeatures) }),
    countsStaleMs,
  );
  const selectedCount = selectedCountOf(selection, total);
  const hasSearchText = query.query !== undefined;
  const projectName = useProjectName(project);
  const label = project === undefined ? 'Cleanup' : `Cleanup of ${projectName}`;
  // Of selected flags that are not loaded, the dialog leaves out those that the user may not archive.
  const selectedProjects = new Set(flags.filter(({ name }) => isSelected(selection, name)).map((flag) => flag.project));
  const projects = [...selectedProjects].toSorted().slice(0, maxAskedProjects);
  const { data: editStatus } = useQuery({
    ...operationQuery(GetEditStatus, { body: { projects, features: [] } }),
    enabled: projects.length > 0,
    placeholderData: keepPreviousData,
  });
  const guarded = new Set(editStatus?.protectedEnvironments.map(({ project: id }) => id));
  const mayArchive =
    selectedProjects.size === 0
      ? maySomewhere(['DELETE_FEATURE'])
      : [...selectedProjects].every((id) =>
          guarded.has(id) ? mayPropose(id) : hasPermission('DELETE_FEATURE', { project: id }),
        );
  const close = (): void => setDialog(undefined);
  return (
    <ListPage project={project} tab="cleanup" title="Cleanup">
      <Reasons view={view} counts={counts.data} />
      <Filters project={project} view={view} days={days} filterInUrl={filterInUrl} />
      <p className={styles['explained']}>
        {
          {
            all: 'Flags that may be no longer needed. Choose a reason to see what it means.',
            stale: 'They are marked as stale: they can be removed from the code.',
            potentiallyStale: 'They are older than flags of their type are meant to become.',
            allOn: `They are on for everybody in production, and no application there has reported “no” for ${formatCount(days, 'day')}. The code can keep the new path only.`,
            allOff: `They are off in every environment, and no application has reported “yes” for ${formatCount(days, 'day')}. The code can drop the path.`,
            notSeen: `Applications used them once, and none has reported them for ${formatCount(days, 'day')}.`,
            neverSeen: `They were made more than ${formatCount(days, 'day')} ago, and no application has ever reported them.`,
            unknown:
              'Names that applications have asked for in the last two days and that no active flag of their projects has. Applications use the default of their code instead.',
          }[view]
        }
        {counts.isFetching && (counts.data === undefined || counts.isPlaceholderData) && (
          <span role="status" className={styles['counting']}>
            {' '}
            Counting the flags of each reason…
          </span>
        )}
      </p>
      {view === 'unknown' ? (
        <UnknownFlagsTable project={project} filter={filterInUrl.filter} />
      ) : (
        <>
          <SelectionBar
            selection={selection}
            total={list.data === undefined ? undefined : total}
            exactTotal={total}
            onSelectAll={() => setSelection(fullSelection)}
            onSelectNone={() => setSelection(emptySelection)}
          >
            {mayArchive && (
              <Button size="small" icon="archive" onPress={() => setDialog('archive')}>
                Archive
              </Button>
            )}
            <Button size="small" icon="copy" onPress={() => setDialog('report')}>
              Text for the code’s owners
            </Button>
          </SelectionBar>
          <ErrorNotice error={list.error} retry={() => void list.refetch()} />
          {list.data === undefined && list.error === null && <Loading />}
          {list.data !== undefined && flags.length === 0 && (
            <EmptyState title={hasSearchText ? 'No flag has this in its name' : 'Nothing to clean up here'}>
              {hasSearchText
                ? undefined
                : 'When flags outlive their use, they appear here, with the reason and where they were last used.'}
            </EmptyState>
          )}
          {flags.length > 0 && (
            <CleanupTable
              label={label}
              hasProjects={project === undefined}
              flags={flags}
              total={total}
              isOutdated={list.isPlaceholderData}
              selectedCount={selectedCount}
              isSelected={(name) => isSelected(selection, name)}
              onSelect={(names, isOn) => setSelection((before) => withSelected(before, names, isOn))}
              onSelectAll={(isOn) => setSelection(isOn ? fullSelection : emptySelection)}
              onReachEnd={onReachEnd}
            />
          )}
        </>
      )}
      <Suspense>
        {dialog === 'archive' && (
          <BulkDialog
            action={{ kind: 'archive' }}
            flags={{
              key: [query, selection],
              count: selectedCount,
              read: async (signal) => (await readCleanupSelection(query, selection, signal)).map(archivableFlagOf),
            }}
            onClose={() => {
              close();
              setSelection(emptySelection);
            }}
          />
        )}
        {dialog === 'report' && <CleanupReportDialog query={query} selection={selection} onClose={close} />}
      </Suspense>
    </ListPage>
  );
}

/** The cleanup of the project in the URL. */
export function ProjectCleanupPage() {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <CleanupPage key={project} project={project} />;
}
