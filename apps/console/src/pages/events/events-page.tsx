import type { Event } from '@bunting/contracts';
import { useParams } from '@tanstack/react-router';
import { Suspense, useCallback, useEffect, useRef, useState } from 'react';
import { useEventFeed } from '../../api/event-feed.ts';
import { usePermissionCheck } from '../../api/permissions.ts';
import { Button, PlaceOfButton } from '../../components/buttons/button.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { Loading, EmptyState } from '../../components/content/query-result.tsx';
import { FilterChips } from '../../filtering/filter-chips.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { dayIn, ownTimeZone } from '../../filtering/filter-tokens.ts';
import { useProjectName } from '../../components/content/project-name.tsx';
import { ListPage } from '../projects/project-tabs.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { eventSuggestions } from './event-filter.ts';
import { type EventActions, EventList } from './event-list.tsx';
import { useEventListQuery, useEventRows, useExpandedAndActiveEvents } from './use-events.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './events.module.css';
import { formatCount } from '../../text/format-number.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const LogIntegrity = lazyPart(() => import('./log-integrity.tsx').then(({ LogIntegrity }) => LogIntegrity));
const UndoDialog = lazyPart(() => import('./undo-dialog.tsx').then(({ UndoDialog }) => UndoDialog));
/** Milliseconds from a new event until the list is read again, once for all events in that time. */
const refreshThrottleMs = 250;
/** The tokens of a filter that limit it to events before a day. */
const upperDayLimits = /(^|\s)when:(<\d{4}-\d{2}-\d{2}|>\d+[dwmy])(?=\s|$)/g;

/** Calls `refresh` some time after a new event: at most once in `refreshThrottleMs`, for all events in that time. */
function useThrottledEventFeed(refresh: () => void): void {
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const latestRefresh = useRef(refresh);
  useEffect(() => {
    latestRefresh.current = refresh;
  });
  useEffect(() => () => clearTimeout(timer.current), []);
  useEventFeed(() => {
    timer.current ??= setTimeout(() => {
      timer.current = undefined;
      latestRefresh.current();
    }, refreshThrottleMs);
  });
}

/** The actions of the rows as one object for all rows and renders, so that scrolling renders new rows only. */
function useStableEventActions(toggle: EventActions['toggle'], undo: EventActions['undo']): EventActions {
  const latestHandlers = useRef({ toggle, undo });
  useEffect(() => {
    latestHandlers.current = { toggle, undo };
  });
  const [actions] = useState<EventActions>(() => ({
    toggle: (...args) => latestHandlers.current.toggle(...args),
    undo: (...args) => latestHandlers.current.undo(...args),
  }));
  return actions;
}

interface EventListKeys {
  readonly focusFilter: () => void;
  readonly moveActiveRow: (step: number) => void;
  readonly toggleActiveEvent: () => void;
  readonly undoActiveEvent: () => void;
}

function useEventListKeys({ focusFilter, moveActiveRow, toggleActiveEvent, undoActiveEvent }: EventListKeys): void {
  return usePageActions([
    { id: 'events.filter', title: 'Filter', key: '/', run: focusFilter },
    { id: 'events.next', title: 'Next event', key: 'j', isShortcutOnly: true, run: () => moveActiveRow(1) },
    { id: 'events.previous', title: 'Previous event', key: 'k', isShortcutOnly: true, run: () => moveActiveRow(-1) },
    {
      id: 'events.toggle',
      title: 'Show or hide what the event changed',
      key: 'Enter',
      isShortcutOnly: true,
      run: toggleActiveEvent,
    },
    { id: 'events.undo', title: 'Undo this…', key: 'u', isShortcutOnly: true, run: undoActiveEvent },
  ]);
}

/** Opens the undo of an event that can be undone. The table of these is loaded when it is first called. */
async function openUndo(event: Event, open: (event: Event) => void): Promise<void> {
  const { undoOperationOf } = await import('./undo-rights.ts');
  if (undoOperationOf(event) !== undefined) open(event);
}

/** The events of all projects or of one, by day and as sentences. New events appear as they are recorded. */
export function EventsPage({ project }: { readonly project?: string | undefined }) {
  const { query, errors, chips, filter, setFilter, vocabulary, loadVocabulary } = useEventListQuery(project);
  const [visibleRange, setVisibleRange] = useState({ first: 0, last: 0, isAtTop: true });
  const list = useEventRows(query, visibleRange.first, visibleRange.last, visibleRange.isAtTop);
  const { rows, total, newerCount, eventAt } = list;
  const { activeRow, moveActiveRow, isOpen, toggle } = useExpandedAndActiveEvents({ query, rows, total });
  const [eventToUndo, setEventToUndo] = useState<Event | undefined>();
  const actions = useStableEventActions(toggle, setEventToUndo);
  const filterBox = useRef<FilterComboBoxHandle>(null);
  const scroller = useRef<HTMLDivElement>(null);
  const isAdmin = usePermissionCheck()('ADMIN');
  useThrottledEventFeed(() => void list.refresh());
  // Another query finds other events: their list begins at the top.
  useEffect(() => {
    scroller.current?.scrollTo({ top: 0 });
  }, [query]);
  const onVisibleRangeChange = useCallback(
    (first: number, last: number, isAtTop: boolean) => setVisibleRange({ first, last, isAtTop }),
    [],
  );
  const activeEvent = activeRow < 0 ? undefined : eventAt(activeRow);
  useEventListKeys({
    focusFilter: () => filterBox.current?.focus(),
    moveActiveRow,
    toggleActiveEvent: () => activeEvent !== undefined && toggle(activeRow, activeEvent.id),
    undoActiveEvent: () => activeEvent !== undefined && void openUndo(activeEvent, setEventToUndo),
  });

  const showNewer = (): void => {
    list.showNewer();
    scroller.current?.scrollTo({ top: 0 });
  };
  const oldestShown = rows < total ? eventAt(rows - 1) : undefined;
  const oldestShownDay = oldestShown && dayIn(ownTimeZone(), new Date(oldestShown.createdAt));
  const showEventsUpTo = (day: string): void => {
    const nextDay = new Date(Date.parse(day) + 86_400_000).toISOString().slice(0, 10);
    setFilter(`${filter.replace(upperDayLimits, '').trim()} when:<${nextDay}`.trim());
  };
  const projectName = useProjectName(project);
  const label = project === undefined ? 'Event log' : `Events of ${projectName}`;
  const isEmpty = list.isLoaded && !list.isOutdated && total === 0;
  return (
    <ListPage
      project={project}
      tab="events"
      title={project === undefined ? 'Event log' : 'Events'}
      actions={
        isAdmin && (
          <Suspense
            fallback={
              <PlaceOfButton isHidden>
                <Badge>✓ The newest 1,000 events intact</Badge>
                <Button>Integrity</Button>
              </PlaceOfButton>
            }
          >
            <LogIntegrity />
          </Suspense>
        )
      }
    >
      <div className={styles['bar']}>
        <FilterComboBox
          label="Filter events"
          hint={'type:feature-strategy-* feature:checkout by:ada when:<7d'}
          value={filter}
          onChange={setFilter}
          errors={errors}
          suggest={(typed, caret) => eventSuggestions(typed, caret, vocabulary)}
          onFocus={loadVocabulary}
          handle={filterBox}
        />
      </div>
      <div className={layout['status']}>
        <span role="status">
          {list.isLoaded
            ? rows < total
              ? `The newest ${formatCount(rows, 'event')} of ${formatCount(total, 'event')}`
              : formatCount(total, 'event')
            : ''}
        </span>
        <FilterChips filter={filter} chips={chips} onChange={setFilter} onEmpty={() => filterBox.current?.focus()} />
        {newerCount > 0 && (
          <Button size="small" icon="arrowUp" onPress={showNewer}>
            {formatCount(newerCount, 'new event')}
          </Button>
        )}
      </div>
      <ErrorNotice error={list.error} retry={() => void list.refetch()} />
      {!list.isLoaded && list.error === null && <Loading />}
      {isEmpty && filter.trim() !== '' && (
        <EmptyState title="No event matches" action={<Button onPress={() => setFilter('')}>Clear the filter</Button>}>
          Remove a part of the filter, or widen its days: words are searched in what the events changed.
        </EmptyState>
      )}
      {isEmpty && filter.trim() === '' && (
        <EmptyState title="No events yet">
          Each change of a flag, a project, a user or a token is recorded here, with what was before and who did it.
        </EmptyState>
      )}
      {list.isLoaded && !isEmpty && (
        <EventList
          label={label}
          isOfManyProjects={project === undefined}
          rows={rows}
          total={total}
          isOutdated={list.isOutdated}
          eventAt={eventAt}
          isOpen={isOpen}
          activeRow={activeRow}
          actions={actions}
          onVisibleRangeChange={onVisibleRangeChange}
          scroller={scroller}
          end={
            oldestShownDay !== undefined && (
              <div className={styles['end']}>
                <Button onPress={() => showEventsUpTo(oldestShownDay)}>Load older events</Button>
              </div>
            )
          }
        />
      )}
      <Suspense>
        {eventToUndo !== undefined && <UndoDialog event={eventToUndo} onClose={() => setEventToUndo(undefined)} />}
      </Suspense>
    </ListPage>
  );
}

/** The events of the project in the URL. */
export function ProjectEventsPage() {
  const { project = '' } = useParams({ strict: false }) as { project?: string };
  return <EventsPage key={project} project={project} />;
}
