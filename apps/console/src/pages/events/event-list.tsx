import type { Event } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, Suspense, useEffect } from 'react';
import { serverNow } from '../../api/server-clock.ts';
import { Loading } from '../../components/content/query-result.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { useProjectNames } from '../../components/content/project-name.tsx';
import { EventSummary } from '../../components/content/event-summary.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { eventLabel, subjectOf } from '../../text/event-words.ts';
import { shortSummary } from '../../text/short-summary.ts';
import { Time } from '../../components/content/time.tsx';
import chip from '../../components/content/chip.module.css';
import layout from '../../components/layout/layout.module.css';
import styles from './events.module.css';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const EventDetail = lazyPart(() => import('./event-detail.tsx').then(({ EventDetail }) => EventDetail));
/** The estimated height of a row in pixels, which is that of one line. A row is measured once it is on the screen. */
const estimatedHeight = 37;
const overscan = 10;

const weekday = new Intl.DateTimeFormat(undefined, {
  numberingSystem: 'latn',
  weekday: 'long',
  day: 'numeric',
  month: 'long',
  year: 'numeric',
});

/** The day of an instant in the time zone of the reader, in words. */
function dayOf(at: string, now: Date): string {
  const date = new Date(at);
  const day = weekday.format(date);
  if (day === weekday.format(now)) return `Today, ${day}`;
  const yesterday = new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  return day === weekday.format(yesterday) ? `Yesterday, ${day}` : day;
}

export interface EventActions {
  readonly toggle: (row: number, id: number) => void;
  readonly undo: (event: Event) => void;
}

interface RowProps {
  readonly event: Event | undefined;
  /** the heading of the day, if its first row is this one */
  readonly day: string | undefined;
  readonly row: number;
  readonly total: number;
  readonly top: number;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  readonly actions: EventActions;
  readonly measure: (element: HTMLElement | null) => void;
  /** where the list has events of several projects */
  readonly projectName: string | undefined;
}

const Row = memo(({ event, day, row, total, top, isOpen, isActive, actions, measure, projectName }: RowProps) => {
  const rowProps = {
    ref: measure,
    'data-index': row,
    className: styles['item'],
    style: { transform: `translateY(${top}px)` },
    'aria-posinset': row + 1,
    'aria-setsize': total,
  } as const;
  if (event === undefined)
    return (
      <article {...rowProps} aria-busy="true" aria-label="Loading…">
        <div className={styles['row']}>
          <span className={styles['waiting']} />
        </div>
      </article>
    );
  const { id, createdAt, summary, featureName, project, environment } = event;
  const name = eventLabel(event);
  return (
    <article {...rowProps} aria-labelledby={`event-${id}`}>
      {day !== undefined && <h2 className={styles['day']}>{day}</h2>}
      <div className={styles['row']} data-active={isActive || undefined}>
        <button
          type="button"
          className={styles['expand']}
          aria-expanded={isOpen}
          aria-label={`${name}, event ${id}`}
          onClick={() => actions.toggle(row, id)}
        >
          <Icon name={isOpen ? 'chevronDown' : 'chevronRight'} />
        </button>
        <span className={styles['time']}>
          <Time at={createdAt} isTimeOfDay />
        </span>
        <span id={`event-${id}`} className={styles['summary']}>
          <EventSummary
            text={shortSummary(summary ?? name, { environment, projectName })}
            by={event}
            subject={featureName == null ? (subjectOf(event) ?? project ?? undefined) : undefined}
          />
        </span>
        <span className={styles['where']}>
          {featureName != null && project != null && (
            <Link
              to="/projects/$project/features/$feature"
              params={{ project, feature: featureName }}
              preload={false}
              className={styles['flag'] ?? ''}
            >
              <bdi>{featureName}</bdi>
            </Link>
          )}
          {environment != null && (
            <span className={chip['chip']}>
              <EnvironmentName name={environment} />
            </span>
          )}
        </span>
      </div>
      {isOpen && (
        <Suspense fallback={<Loading />}>
          <EventDetail event={event} onUndo={actions.undo} />
        </Suspense>
      )}
    </article>
  );
});
Row.displayName = 'Row';

interface EventListProps {
  readonly label: string;
  /** the number of rows, which is limited */
  readonly rows: number;
  /** the number of events that match the filter */
  readonly total: number;
  /** whether the rows are those of an earlier filter, while those of the current one are loading */
  readonly isOutdated: boolean;
  readonly eventAt: (row: number) => Event | undefined;
  readonly isOpen: (id: number) => boolean;
  /** the row on which shortcuts act; -1 for none */
  readonly activeRow: number;
  readonly actions: EventActions;
  /** called with the first and last row on the screen */
  readonly onVisibleRangeChange: (first: number, last: number, isAtTop: boolean) => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
  /** whether it lists events of several projects, so that each says its own */
  readonly isOfManyProjects: boolean;
  /** shown below the last row */
  readonly end: React.ReactNode;
}

/** Events by day, the newest first. Only the rows on the screen are in the document; ARIA attributes tell which rows they are. */
export function EventList({
  label,
  rows,
  total,
  eventAt,
  activeRow,
  scroller,
  onVisibleRangeChange,
  ...props
}: EventListProps) {
  const virtualizer = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => estimatedHeight,
    // Counted from the oldest event, so that a measured row keeps its height when events come.
    getItemKey: (row) => total - row,
    overscan,
  });
  const nameOf = useProjectNames();
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const offset = virtualizer.scrollOffset ?? 0;
  const isAtTop = offset < estimatedHeight;
  useEffect(() => onVisibleRangeChange(first, last, isAtTop), [onVisibleRangeChange, first, last, isAtTop]);
  useEffect(() => {
    if (activeRow >= 0) virtualizer.scrollToIndex(activeRow, { align: 'auto' });
  }, [activeRow, virtualizer]);
  const now = new Date(serverNow());
  const dayAt = (row: number): string | undefined => {
    const event = row < 0 ? undefined : eventAt(row);
    return event && dayOf(event.createdAt, now);
  };
  const topRow = items.find(({ end }) => end > offset)?.index ?? 0;
  return (
    <div
      ref={scroller}
      className={`${layout['scroller']} ${props.isOutdated ? styles['outdated'] : ''}`}
      aria-busy={props.isOutdated}
      role="region"
      aria-label={label}
      tabIndex={0}
    >
      <div className={styles['sticky']} aria-hidden="true">
        <div className={styles['day']}>{dayAt(topRow)}</div>
      </div>
      <div role="feed" aria-label={label} className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
        {items.map(({ index, start, key }) => {
          const event = eventAt(index);
          const day = event && dayOf(event.createdAt, now);
          return (
            <Row
              key={String(key)}
              row={index}
              total={total}
              top={start}
              event={event}
              day={day !== dayAt(index - 1) ? day : undefined}
              isOpen={event !== undefined && props.isOpen(event.id)}
              isActive={index === activeRow}
              actions={props.actions}
              measure={virtualizer.measureElement}
              projectName={props.isOfManyProjects && event?.project != null ? nameOf(event.project) : undefined}
            />
          );
        })}
      </div>
      {props.end}
    </div>
  );
}
