import { Link, useNavigate, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useEnvironments } from '../../api/queries.ts';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { Page } from '../../components/layout/page.tsx';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { flagsMessages } from '../../messages/flags.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { usePageActions } from '../../shell/page-actions.ts';
import type { BulkAction } from '../../changes/bulk-action.ts';
import { BulkMenu } from './bulk-menu.tsx';
import { flagSuggestions, readFlagFilter, type SearchQuery } from './flag-filter.ts';
import { useFlagVocabulary } from './flag-vocabulary.ts';
import { FlagTable, type RowActions, type SortState } from './flag-table.tsx';
import { useFlagRowActions } from './use-flag-row-actions.ts';
import { useFlagRows } from './use-flag-rows.ts';
import {
  selectedCountOf,
  fullSelection,
  isSelected,
  emptySelection,
  type FlagSelection,
  withSelected,
} from './flag-selection.ts';
import { SelectionBar } from './selection-bar.tsx';
import styles from './flags.module.css';

const BulkDialog = lazy(() =>
  import('./bulk-dialog.tsx').then(({ BulkDialog: component }) => ({ default: component })),
);
const CreateFlagDialog = lazy(() =>
  import('./create-flag-dialog.tsx').then(({ CreateFlagDialog: component }) => ({ default: component })),
);

const text = flagsMessages;
const defaultSort: SortState = { by: 'name', isDescending: false };

/** The filter and the order of the list, as state of the address. */
const useListAddress = () => {
  const { filter, setFilter, search, write } = useFilterInUrl();
  const [by = defaultSort.by, order] = (search['sort'] ?? '').split(' ').filter(Boolean);
  const sort: SortState = { by, isDescending: order === 'desc' };
  const setSort = (column: string): void => {
    const isDescending = sort.by === column && !sort.isDescending;
    write({ sort: column === 'name' && !isDescending ? undefined : `${column}${isDescending ? ' desc' : ''}` });
  };
  return { filter, setFilter, sort, setSort };
};

/** All flags that match a filter, of every project or of one. */
export const FlagsPage = ({ project }: { readonly project?: string | undefined }) => {
  const { filter, setFilter, sort, setSort } = useListAddress();
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const { data: environmentList } = useEnvironments();
  const environments = useMemo(
    () => (environmentList?.environments ?? []).filter(({ enabled }) => enabled).map(({ name }) => name),
    [environmentList],
  );
  const { query: parsedQuery, errors } = useMemo(() => {
    const { query: parsed, errors: wrong } = readFlagFilter(filter, environments);
    const scoped = project === undefined ? parsed : { ...parsed, project: `IS:${project}` };
    const full = { ...scoped, sortBy: sort.by, sortOrder: sort.isDescending ? 'desc' : 'asc' };
    return { query: full, errors: wrong };
  }, [filter, environments, project, sort.by, sort.isDescending]);
  // An equal query stays the same object when the environments are loaded or change, so that the list keeps its selection.
  const conditions = JSON.stringify(parsedQuery);
  const query = useMemo(() => JSON.parse(conditions) as SearchQuery, [conditions]);
  const [range, setRange] = useState({ first: 0, last: 0 });
  const list = useFlagRows(query, range.first, range.last);
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  const [active, setActive] = useState(-1);
  const [bulk, setBulk] = useState<BulkAction | undefined>();
  const [isCreating, setCreating] = useState(false);
  const [isVocabularyNeeded, setVocabularyNeeded] = useState(false);
  const vocabulary = useFlagVocabulary(environments, isVocabularyNeeded);
  const bar = useRef<FilterComboBoxHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const anchor = useRef(-1);
  const { pending, toggle, favour } = useFlagRowActions();
  const mayCreate =
    may('CREATE_FEATURE', { project: project ?? 'default' }) || (project === undefined && may('CREATE_FEATURE'));
  const mayToggle = useCallback(
    (where: string, environment: string) => may('UPDATE_FEATURE_ENVIRONMENT', { project: where, environment }),
    [may],
  );

  // Another filter finds other flags: its list begins at the top, with nothing selected.
  const [listed, setListed] = useState(query);
  if (listed !== query) {
    setListed(query);
    setSelection(emptySelection);
    setActive(-1);
  }
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
    anchor.current = -1;
  }, [query]);

  const { rowAt, total } = list;
  const select = useCallback(
    (row: number, name: string, isRange: boolean) => {
      const from = isRange && anchor.current >= 0 ? anchor.current : row;
      const [low, high] = [Math.min(from, row), Math.max(from, row)];
      const names = Array.from({ length: high - low + 1 }, (_one, nth) => rowAt(low + nth)?.name).filter(
        (one) => one !== undefined,
      );
      anchor.current = row;
      setActive(row);
      setSelection((before) => withSelected(before, names, !isSelected(before, name)));
    },
    [rowAt],
  );
  const latest = useRef({ select, toggle, favour });
  useEffect(() => {
    latest.current = { select, toggle, favour };
  });
  // One object for all rows and renders, so that scrolling renders new rows only.
  const [actions] = useState<RowActions>(() => ({
    select: (...args) => latest.current.select(...args),
    toggle: (...args) => void latest.current.toggle(...args),
    favour: (...args) => void latest.current.favour(...args),
  }));
  const onRange = useCallback((first: number, last: number) => setRange({ first, last }), []);
  const move = (step: number): void => {
    if (total > 0) setActive((row) => Math.max(0, Math.min(total - 1, row + step)));
  };
  const activeFlag = active < 0 ? undefined : rowAt(active);
  const openActive = (): void => {
    if (activeFlag === undefined) return;
    const path = `/projects/${encodeURIComponent(activeFlag.project)}/features/${encodeURIComponent(activeFlag.name)}`;
    void navigate({ href: path });
  };
  usePageActions([
    { id: 'flags.filter', title: text.focusFilter, key: '/', run: () => bar.current?.focus() },
    { id: 'flags.next', title: text.nextRow, key: 'j', isShortcutOnly: true, run: () => move(1) },
    { id: 'flags.previous', title: text.previousRow, key: 'k', isShortcutOnly: true, run: () => move(-1) },
    {
      id: 'flags.select',
      title: text.selectRow,
      key: 'x',
      isShortcutOnly: true,
      run: () => activeFlag !== undefined && select(active, activeFlag.name, false),
    },
    { id: 'flags.open', title: text.openRow, key: 'Enter', isShortcutOnly: true, run: openActive },
    ...(mayCreate ? [{ id: 'flags.create', title: text.create.title, key: 'c', run: () => setCreating(true) }] : []),
  ]);

  const selected = selectedCountOf(selection, total);
  const isEmpty = list.isLoaded && !list.isOld && total === 0;
  const create = mayCreate && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      {text.create.title}
    </Button>
  );
  const title = project === undefined ? text.title : text.ofProject(project);
  const isSelectedName = (name: string): boolean => isSelected(selection, name);
  return (
    <Page
      title={title}
      fillsWindow
      actions={create}
      {...(project === undefined
        ? {}
        : {
            crumbs: [
              <Link key="all" to="/flags">
                {sharedMessages.shell.allProjects}
              </Link>,
              <Link key="one" to="/projects/$project" params={{ project }}>
                {project}
              </Link>,
            ],
            titleExtras: (
              <Link to="/projects/$project/events" params={{ project }}>
                {sharedMessages.shell.events}
              </Link>
            ),
          })}
    >
      <div className={styles['bar']}>
        <FilterComboBox
          label={text.filter}
          hint={text.filterHint}
          value={filter}
          onChange={setFilter}
          errors={errors}
          suggest={(typed, caret) => flagSuggestions(typed, caret, vocabulary)}
          onFocus={() => setVocabularyNeeded(true)}
          handle={bar}
        />
      </div>
      <SelectionBar selection={selection} total={list.isLoaded ? total : undefined} onChange={setSelection}>
        <BulkMenu environments={environments} onChoose={setBulk} />
      </SelectionBar>
      {list.error !== null && <ErrorNotice error={list.error} retry={() => void list.refetch()} />}
      {!list.isLoaded && list.error === null && <Loading />}
      {isEmpty && filter.trim() !== '' && (
        <EmptyState
          title={text.noMatch}
          action={<Button onPress={() => setFilter('')}>{sharedMessages.filter.clear}</Button>}
        >
          {text.noMatchHelp}
        </EmptyState>
      )}
      {isEmpty && filter.trim() === '' && (
        <EmptyState title={text.empty} action={create}>
          {text.emptyHelp}
        </EmptyState>
      )}
      {list.isLoaded && !isEmpty && (
        <FlagTable
          label={title}
          total={total}
          isOld={list.isOld}
          rowAt={rowAt}
          environments={environments}
          showsProject={project === undefined}
          sort={sort}
          onSort={setSort}
          isSelected={isSelectedName}
          selectedCount={selected}
          onSelectAll={(all) => setSelection(all ? fullSelection : emptySelection)}
          active={active}
          pending={pending}
          mayToggle={mayToggle}
          actions={actions}
          onRange={onRange}
          scroller={scroller}
        />
      )}
      <Suspense>
        {isCreating && <CreateFlagDialog project={project} onClose={() => setCreating(false)} />}
        {bulk !== undefined && (
          <BulkDialog
            action={bulk}
            flags={{
              key: [query, selection],
              count: selectedCountOf(selection, total),
              read: async (signal) =>
                (await import('./read-selected-flags.ts')).readSelectedFlags(query, selection, signal),
            }}
            onClose={() => setBulk(undefined)}
          />
        )}
      </Suspense>
    </Page>
  );
};

/** The flags of the project in the address. */
export const ProjectFlagsPage = () => {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <FlagsPage key={project} project={project} />;
};
