import { type Event, ListEventCreators } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Link, useParams } from '@tanstack/react-router';
import { lazy, Suspense, useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { operationQuery, useEnvironments, useProjects } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { useMayCall } from '../../api/use-may-call.ts';
import { Page } from '../../components/layout/page.tsx';
import { useFilterInUrl } from '../../filtering/filter-in-url.ts';
import { eventsMessages } from '../../messages/events.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { usePageActions } from '../../shell/page-actions.ts';
import { type EventQuery, eventSuggestions, readEventFilter } from './list/event-filter.ts';
import { type EventActions, EventList } from './list/event-list.tsx';
import { useEventRows } from './list/use-event-rows.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './events.module.css';

const LogIntegrity = lazy(() =>
  import('./log-integrity.tsx').then(({ LogIntegrity: component }) => ({ default: component })),
);
const UndoDialog = lazy(() =>
  import('./undo/undo-dialog.tsx').then(({ UndoDialog: component }) => ({ default: component })),
);

const text = eventsMessages;
/** Debounce of new events before the list is refetched, in milliseconds. */
const refreshMs = 250;
/** The tokens of a filter that set its latest day. */
const boundAbove = /(^|\s)when:(<\d{4}-\d{2}-\d{2}|>\d+[dwmy])(?=\s|$)/g;

/** Calls a function some time after new events, once for all events within that time. */
const useAfterEvents = (refresh: () => void): void => {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latest = useRef(refresh);
  useEffect(() => {
    latest.current = refresh;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  useEventFeed(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latest.current();
    }, refreshMs);
  });
};

const useVocabulary = (filter: string, isNeeded: boolean, project: string | undefined) => {
  const namesUsers = /(^|\s)by:/.test(filter);
  const { data: creators } = useQuery({
    ...operationQuery(ListEventCreators, {}),
    enabled: isNeeded || namesUsers,
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
};

/** What happened, of every project or of one: by day, as sentences, while it happens. */
export const EventsPage = ({ project }: { readonly project?: string | undefined }) => {
  const { filter, setFilter } = useFilterInUrl();
  const [isVocabularyNeeded, setVocabularyNeeded] = useState(false);
  const vocabulary = useVocabulary(filter, isVocabularyNeeded, project);
  const { creators } = vocabulary;
  const { query: found, errors } = useMemo(
    () => readEventFilter(filter, { creators, project }),
    [filter, creators, project],
  );
  // Equal conditions share one list, however they were typed.
  const conditions = JSON.stringify(found);
  const query = useMemo(() => JSON.parse(conditions) as EventQuery, [conditions]);
  const [range, setRange] = useState({ first: 0, last: 0, isAtTop: true });
  const list = useEventRows(query, range.first, range.last, range.isAtTop);
  const { rows, total, newer, eventAt } = list;
  const [toggled, setToggled] = useState<ReadonlySet<number>>(new Set());
  const [active, setActive] = useState(-1);
  const [undoing, setUndoing] = useState<Event | undefined>();
  const bar = useRef<FilterComboBoxHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const isAdmin = usePermissionCheck()('ADMIN');
  const mayCall = useMayCall();
  useAfterEvents(() => void list.refresh());

  // Another filter finds other events: its list begins at the top.
  const [listed, setListed] = useState(query);
  if (listed !== query) {
    setListed(query);
    setActive(-1);
    setToggled(new Set());
  }
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [query]);

  // The link to one event shows what it changed.
  const isOne = query.id !== undefined && total === 1;
  const isOpen = (id: number): boolean => toggled.has(id) !== isOne;
  const toggle = (row: number, id: number): void => {
    setActive(row);
    setToggled((before) =>
      before.has(id) ? new Set([...before].filter((one) => one !== id)) : new Set([...before, id]),
    );
  };
  const latest = useRef(toggle);
  useEffect(() => {
    latest.current = toggle;
  });
  // One object for all rows and renders, so that scrolling renders new rows only.
  const [actions] = useState<EventActions>(() => ({
    toggle: (...args) => latest.current(...args),
    undo: setUndoing,
  }));
  const onRange = useCallback(
    (first: number, last: number, isAtTop: boolean) => setRange({ first, last, isAtTop }),
    [],
  );
  const move = (step: number): void => {
    if (rows > 0) setActive((row) => Math.max(0, Math.min(rows - 1, row + step)));
  };
  const activeEvent = active < 0 ? undefined : eventAt(active);
  const undo = async (event: Event | undefined): Promise<void> => {
    if (event === undefined) return;
    const { undoOperationOf } = await import('./undo/undo-operations.ts');
    const operation = undoOperationOf(event);
    const where = { project: event.project ?? undefined, environment: event.environment ?? undefined };
    if (operation !== undefined && mayCall(operation, where)) setUndoing(event);
  };
  usePageActions([
    { id: 'events.filter', title: text.focusFilter, key: '/', run: () => bar.current?.focus() },
    { id: 'events.next', title: text.next, key: 'j', isShortcutOnly: true, run: () => move(1) },
    { id: 'events.previous', title: text.previous, key: 'k', isShortcutOnly: true, run: () => move(-1) },
    {
      id: 'events.toggle',
      title: text.toggle,
      key: 'Enter',
      isShortcutOnly: true,
      run: () => activeEvent !== undefined && toggle(active, activeEvent.id),
    },
    {
      id: 'events.undo',
      title: text.undo.button,
      key: 'u',
      isShortcutOnly: true,
      run: () => void undo(activeEvent),
    },
  ]);

  const showNewer = (): void => {
    list.showNewer();
    scroller.current?.scrollTo({ top: 0 });
  };
  const lastDay = rows < total ? eventAt(rows - 1)?.createdAt.slice(0, 10) : undefined;
  const goOn = (day: string): void => {
    const next = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    setFilter(`${filter.replace(boundAbove, '').trim()} when:<${next}`.trim());
  };
  const title = project === undefined ? text.title : text.ofProject(project);
  const isEmpty = list.isLoaded && !list.isOutdated && total === 0;
  return (
    <Page
      title={title}
      fillsWindow
      actions={
        isAdmin && (
          <Suspense>
            <LogIntegrity />
          </Suspense>
        )
      }
      {...(project === undefined
        ? {}
        : {
            crumbs: [
              <Link key="all" to="/events">
                {text.title}
              </Link>,
              <Link key="one" to="/projects/$project/flags" params={{ project }}>
                {project}
              </Link>,
            ],
          })}
    >
      <div className={styles['bar']}>
        <FilterComboBox
          label={text.filter}
          hint={text.filterHint}
          value={filter}
          onChange={setFilter}
          errors={errors}
          suggest={(typed, caret) => eventSuggestions(typed, caret, vocabulary)}
          onFocus={() => setVocabularyNeeded(true)}
          handle={bar}
        />
      </div>
      <div className={layout['status']}>
        <span role="status">{list.isLoaded ? (rows < total ? text.shown(rows, total) : text.found(total)) : ''}</span>
        {newer > 0 && (
          <Button size="small" icon="arrowUp" onPress={showNewer}>
            {text.newer(newer)}
          </Button>
        )}
      </div>
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
      {isEmpty && filter.trim() === '' && <EmptyState title={text.empty}>{text.emptyHelp}</EmptyState>}
      {list.isLoaded && !isEmpty && (
        <EventList
          label={title}
          rows={rows}
          total={total}
          isOutdated={list.isOutdated}
          eventAt={eventAt}
          isOpen={isOpen}
          active={active}
          actions={actions}
          onRange={onRange}
          scroller={scroller}
          end={
            lastDay !== undefined && (
              <div className={styles['end']}>
                <Button onPress={() => goOn(lastDay)}>{text.older}</Button>
              </div>
            )
          }
        />
      )}
      <Suspense>
        {undoing !== undefined && <UndoDialog event={undoing} onClose={() => setUndoing(undefined)} />}
      </Suspense>
    </Page>
  );
};

/** The events of the project in the address. */
export const ProjectEventsPage = () => {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <EventsPage key={project} project={project} />;
};
