import { useNavigate, useParams } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { GetEditStatus, ListEnvironmentsOfProject, SearchFeatures } from '@bunting/contracts';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { operationKey, operationQuery, useEnvironments, useProjects } from '../../api/queries-and-mutations.ts';
import {
  setEnvironmentPreference,
  shownEnvironments,
  useEnvironmentPreference,
} from '../../components/environments/environment-preference.ts';
import { EnvironmentsButton } from '../../components/environments/environments-button.tsx';
import { useMayPropose, useMaySomewhere, usePermissionCheck } from '../../api/permissions.ts';
import { Button, PlaceOfButton } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { FilterChips } from '../../filtering/filter-chips.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { useEventBatches } from '../../api/event-feed.ts';
import { useScrollMemory } from '../../components/layout/scroll-memory.ts';
import { useProjectName } from '../../components/content/project-name.tsx';
import { ListPage } from '../projects/project-tabs.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import type { BulkAction } from './bulk-action.ts';
import { BulkMenu, emptySelection, isSelected, permissionOf, selectedCountOf, SelectionBar } from './selection-bar.tsx';
import { flagSuggestions, hasCountedKey } from './flag-filter.ts';
import {
  type EditStatus,
  halfWindow,
  useFlagFilterVocabulary,
  useFlagListQuery,
  useSelectedAndActiveFlags,
  useFlagRowActions,
  useFlagRows,
} from './use-flags.ts';
import { ConnectSdkButton } from '../connect/connect-sdk-button.tsx';
import { FilterMenu, ViewsMenu } from './filter-menus.tsx';
import { FlagTable } from './flag-table.tsx';
import styles from './flags.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const BulkDialog = lazyPart(() => import('./bulk-dialog.tsx').then(({ BulkDialog }) => BulkDialog));
const CreateFlagDialog = lazyPart(() =>
  import('./create-flag-dialog.tsx').then(({ CreateFlagDialog }) => CreateFlagDialog),
);
const ProductionQuestion = lazyPart(() =>
  import('./production-question.tsx').then(({ ProductionQuestion }) => ProductionQuestion),
);
interface FlagListKeys {
  readonly focusFilter: () => void;
  readonly moveActiveRow: (step: number) => void;
  readonly selectActiveRow: () => void;
  readonly openActiveFlag: () => void;
  /** undefined where the user may create no flag */
  readonly create: (() => void) | undefined;
  readonly showsUsage: boolean;
  readonly toggleUsage: () => void;
}

function useFlagListKeys({
  focusFilter,
  moveActiveRow,
  selectActiveRow,
  openActiveFlag,
  create,
  showsUsage,
  toggleUsage,
}: FlagListKeys): void {
  return usePageActions([
    { id: 'flags.filter', title: 'Filter', key: '/', run: focusFilter },
    { id: 'flags.next', title: 'Next flag', key: 'j', isShortcutOnly: true, run: () => moveActiveRow(1) },
    { id: 'flags.previous', title: 'Previous flag', key: 'k', isShortcutOnly: true, run: () => moveActiveRow(-1) },
    { id: 'flags.select', title: 'Select the flag', key: 'x', isShortcutOnly: true, run: selectActiveRow },
    { id: 'flags.open', title: 'Open the flag', key: 'Enter', isShortcutOnly: true, run: openActiveFlag },
    {
      id: 'flags.usage',
      title: showsUsage ? 'Hide usage in the list' : 'Show usage in the list',
      key: 'u',
      run: toggleUsage,
    },
    ...(create ? [{ id: 'flags.create', title: 'Create a flag', key: 'c', run: create }] : []),
  ]);
}

/** The enabled environments of a project, or of the installation, and whether they are still being loaded for the first time. */
function useEnabledEnvironments(project: string | undefined) {
  const { data: all, isLoading: areAllLoading } = useEnvironments();
  const own = useQuery({
    ...operationQuery(ListEnvironmentsOfProject, { params: { projectId: project ?? '' } }),
    enabled: project !== undefined,
    staleTime: 60_000,
  });
  const enabled = useMemo(() => {
    const ofProject = new Set(own.data?.environments.filter(({ visible }) => visible === true).map(({ name }) => name));
    return (all?.environments ?? []).filter(
      ({ name, enabled }) => enabled && (own.data === undefined || ofProject.has(name)),
    );
  }, [all, own.data]);
  return { enabledEnvironments: enabled, areEnvironmentsLoading: areAllLoading || own.isLoading };
}

/** What the user may do with the flags of a list. */
function useFlagListRights(listed: string | undefined, environments: readonly string[], { isProtected }: EditStatus) {
  const hasPermission = usePermissionCheck();
  const maySomewhere = useMaySomewhere();
  const mayPropose = useMayPropose();
  const known = useProjects().data?.projects;
  const projects = (known ?? []).filter(({ id }) => listed === undefined || id === listed);
  const mayCreate =
    listed === undefined ? maySomewhere(['CREATE_FEATURE']) : hasPermission('CREATE_FEATURE', { project: listed });
  /** @param addsStrategy whether the flag is turned on where it has no strategy, and gets one */
  const mayToggle = useCallback(
    (project: string, environment: string, addsStrategy = false): boolean =>
      isProtected(project, environment)
        ? mayPropose(project)
        : hasPermission('UPDATE_FEATURE_ENVIRONMENT', { project, environment }) &&
          (!addsStrategy || hasPermission('CREATE_FEATURE_STRATEGY', { project, environment })),
    [isProtected, mayPropose, hasPermission],
  );
  const mayBulk = (action: BulkAction): boolean =>
    projects.some(({ id: project }) => {
      if (action.kind === 'switch') return mayToggle(project, action.environment);
      const isProposed = action.kind === 'archive' && environments.some((name) => isProtected(project, name));
      return isProposed ? mayPropose(project) : hasPermission(permissionOf(action), { project });
    });
  const maySelect = [
    ...environments.map((environment) => ({ kind: 'switch', environment, enabled: true }) as const),
    { kind: 'archive' } as const,
    { kind: 'stale', stale: true } as const,
  ].some(mayBulk);
  return { mayCreate, mayToggle, mayBulk, maySelect, areRightsKnown: known !== undefined };
}

/** How many environments a list shows, until the person chooses which. */
const maxListedEnvironments = 5;

/** All flags that match a filter, of every project or of one. */
export function FlagsPage({ project }: { readonly project?: string | undefined }) {
  const { enabledEnvironments, areEnvironmentsLoading } = useEnabledEnvironments(project);
  const environments = useMemo(() => enabledEnvironments.map(({ name }) => name), [enabledEnvironments]);
  const preference = useEnvironmentPreference();
  const showsUsage = preference.hidesUsage !== true;
  const listedEnvironments = useMemo(
    () => shownEnvironments(enabledEnvironments, preference, maxListedEnvironments),
    [enabledEnvironments, preference],
  );
  const { query, errors, chips, filter, setFilter, sort, setSort, view, openView } = useFlagListQuery(
    project,
    environments,
  );
  const [visibleRange, setVisibleRange] = useState({ first: 0, last: 0 });
  const list = useFlagRows(query, visibleRange.first, visibleRange.last, showsUsage);
  const { rowAt, total } = list;
  const { selection, setSelection, selectAll, exactCount, activeRow, activeFlag, select, moveActiveRow } =
    useSelectedAndActiveFlags({
      query,
      total,
      rowAt,
    });
  const productions = useMemo(
    () => new Set(enabledEnvironments.filter(({ type }) => type === 'production').map(({ name }) => name)),
    [enabledEnvironments],
  );
  const { pendingEnvironments, actions, asked, confirm, cancel } = useFlagRowActions(select, productions);
  const [bulkAction, setBulkAction] = useState<BulkAction | undefined>();
  const [isCreating, setCreating] = useState(false);
  const [isVocabularyNeeded, setVocabularyNeeded] = useState(false);
  const text = query.query ?? '';
  const vocabulary = useFlagFilterVocabulary({
    environments,
    project,
    text,
    isNeeded: isVocabularyNeeded,
    // Not with each letter of a word, when no values are suggested.
    areCountsNeeded: isVocabularyNeeded && (text === '' || hasCountedKey(filter)),
  });
  const filterBox = useRef<FilterComboBoxHandle>(null);
  const beginFilter = useCallback((part: string) => filterBox.current?.begin(part), []);
  const scroller = useRef<HTMLDivElement>(null);
  const navigate = useNavigate();
  const { mayCreate, mayToggle, mayBulk, maySelect, areRightsKnown } = useFlagListRights(
    project,
    environments,
    list.editStatus,
  );
  // Another query finds other flags: their list begins at the top.
  const listedQuery = useRef(query);
  useEffect(() => {
    if (listedQuery.current === query) return;
    listedQuery.current = query;
    scroller.current?.scrollTo({ top: 0 });
  }, [query]);
  // Columns that came later would push the others away.
  const isReady = list.isLoaded && !areEnvironmentsLoading;
  useScrollMemory(scroller, isReady && !list.isOutdated && total > 0);
  const client = useQueryClient();
  useEventBatches(
    ({ type }) => /^(feature|change|segment|project)-/.test(type),
    () =>
      Promise.all(
        [SearchFeatures, GetEditStatus].map((read) => client.invalidateQueries({ queryKey: operationKey(read) })),
      ),
  );
  // The page needs to know which half of a window is on the screen: it is not rendered for each row that is scrolled past.
  const onVisibleRangeChange = useCallback((first: number, last: number) => {
    const range = { first: first - (first % halfWindow), last: last - (last % halfWindow) };
    setVisibleRange((before) => (before.first === range.first && before.last === range.last ? before : range));
  }, []);
  useFlagListKeys({
    focusFilter: () => filterBox.current?.focus(),
    moveActiveRow,
    // Before it is known what the person may do, a key that was pressed still counts.
    selectActiveRow: () =>
      (maySelect || !areRightsKnown) && activeFlag !== undefined && select(activeRow, activeFlag.name, false),
    openActiveFlag: () => {
      if (activeFlag === undefined) return;
      const path = `/projects/${encodeURIComponent(activeFlag.project)}/features/${encodeURIComponent(activeFlag.name)}`;
      void navigate({ href: path });
    },
    create: mayCreate ? () => setCreating(true) : undefined,
    showsUsage,
    toggleUsage: () => setEnvironmentPreference({ ...preference, hidesUsage: showsUsage }),
  });

  const exactTotal = list.exactTotal ?? exactCount;
  const selectedCount = selectedCountOf(selection, total);
  const isEmpty = list.isLoaded && !list.isOutdated && total === 0;
  // One element for all renders: of what a key press in the filter renders, buttons take most.
  const createButton = useMemo(
    () =>
      mayCreate && (
        <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
          Create a flag
        </Button>
      ),
    [mayCreate],
  );
  const isWithoutFlags = isEmpty && filter.trim() === '';
  const mayBeWithoutFlags = isWithoutFlags || (filter.trim() === '' && !list.isLoaded && list.error === null);
  const projectName = useProjectName(project);
  const label = project === undefined ? 'Flags' : `Flags of ${projectName}`;
  return (
    <ListPage
      project={project}
      tab="flags"
      title="Flags"
      actions={<PlaceOfButton isHidden={mayBeWithoutFlags}>{createButton}</PlaceOfButton>}
    >
      <div className={styles['bar']}>
        <FilterComboBox
          label="Filter flags"
          hint={'type:release tag:team:web production:on seen:<7d'}
          value={filter}
          onChange={setFilter}
          errors={errors}
          suggest={(typed, caret) => flagSuggestions(typed, caret, vocabulary)}
          onFocus={() => setVocabularyNeeded(true)}
          handle={filterBox}
        />
        <FilterMenu environments={listedEnvironments} hasProjects={project === undefined} onChoose={beginFilter} />
        <ViewsMenu project={project} q={view.q} sort={view.sort} onOpen={openView} />
        <EnvironmentsButton environments={enabledEnvironments} shown={listedEnvironments} />
      </div>
      <div className={styles['summary']}>
        <SelectionBar
          selection={selection}
          total={list.isLoaded ? total : undefined}
          exactTotal={exactTotal}
          onSelectAll={() => void selectAll()}
          onSelectNone={() => setSelection(emptySelection)}
        >
          <BulkMenu environments={environments} may={mayBulk} onChoose={setBulkAction} />
        </SelectionBar>
        <FilterChips filter={filter} chips={chips} onChange={setFilter} onEmpty={() => filterBox.current?.focus()} />
      </div>
      <ErrorNotice error={list.error} retry={() => void list.refetch()} />
      {!isReady && !isEmpty && list.error === null && <Loading />}
      {isEmpty && filter.trim() !== '' && (
        <EmptyState title="No flag matches" action={<Button onPress={() => setFilter('')}>Clear the filter</Button>}>
          Remove a part of the filter, or shorten a word: names and tags are searched for it.
        </EmptyState>
      )}
      {isWithoutFlags && (
        <EmptyState
          title="No flags yet"
          action={
            <>
              {createButton}
              <ConnectSdkButton project={project} />
            </>
          }
        >
          A flag turns a part of your software on or off without a new release. Create one; it is off everywhere until
          you turn it on.
        </EmptyState>
      )}
      {isReady && !isEmpty && (
        <FlagTable
          label={label}
          total={total}
          isOutdated={list.isOutdated}
          rowAt={rowAt}
          matchAt={list.matchAt}
          firstSimilar={list.firstSimilar}
          editStatus={list.editStatus}
          usageOf={showsUsage ? list.usageOf : undefined}
          environments={listedEnvironments}
          showsProject={project === undefined}
          sort={sort}
          onSort={setSort}
          isSelected={(name) => isSelected(selection, name)}
          selectedCount={selectedCount}
          exactTotal={exactTotal}
          onSelectAll={(isAll) => (isAll ? void selectAll() : setSelection(emptySelection))}
          activeRow={activeRow}
          pendingEnvironments={pendingEnvironments}
          mayToggle={mayToggle}
          maySelect={maySelect}
          actions={actions}
          onVisibleRangeChange={onVisibleRangeChange}
          scroller={scroller}
        />
      )}
      <Suspense>
        {isCreating && (
          <CreateFlagDialog
            project={project}
            onCreated={(params) => void navigate({ to: '/projects/$project/features/$feature', params })}
            onClose={() => setCreating(false)}
          />
        )}
        {asked !== undefined && <ProductionQuestion asked={asked} onConfirm={confirm} onClose={cancel} />}
        {bulkAction !== undefined && (
          <BulkDialog
            action={bulkAction}
            flags={{
              key: [query, selection],
              count: selectedCount,
              read: async (signal) => (await import('./bulk-action.ts')).readSelectedFlags(query, selection, signal),
            }}
            onClose={() => setBulkAction(undefined)}
          />
        )}
      </Suspense>
    </ListPage>
  );
}

/** The flags of the project in the URL. */
export function ProjectFlagsPage() {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <FlagsPage key={project} project={project} />;
}
