import type { SearchFeaturesResponse, SearchResultFeature } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, useEffect, useLayoutEffect, useMemo, useState } from 'react';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { Icon } from '../../components/content/icon.tsx';
import { MarkedText } from '../../components/content/marked-text.tsx';
import { Time } from '../../components/content/time.tsx';
import { reachWords } from '../../text/reach-words.ts';
import chip from '../../components/content/chip.module.css';
import layout from '../../components/layout/layout.module.css';
import styles from './flags.module.css';
import { type RecentUsageOf, Sparkline } from './recent-usage.tsx';
import type { EditStatus } from './use-flags.ts';
import { useProjectNames } from '../../components/content/project-name.tsx';

const rowHeight = 36;
const similarHeadHeight = 28;
const overscan = 12;

/** An environment of the list, with its type. */
interface ListedEnvironment {
  readonly name: string;
  readonly type?: string | undefined;
}

export interface SortState {
  /** as `sortBy` of the search, such as `lastSeenAt` or `reach:production`; undefined for relevance */
  readonly column: string | undefined;
  readonly isDescending: boolean;
}

export interface RowActions {
  readonly select: (row: number, name: string, isRange: boolean) => void;
  readonly toggle: (flag: SearchResultFeature, environment: string, enabled: boolean) => void;
  readonly toggleFavorite: (flag: SearchResultFeature, isFavorite: boolean) => void;
}

function lastSeenOf({ environments }: SearchResultFeature): string | null {
  return environments.reduce<string | null>(
    (latest, { lastSeenAt }) => (lastSeenAt != null && (latest === null || lastSeenAt > latest) ? lastSeenAt : latest),
    null,
  );
}

interface DetailColumn {
  readonly id: string;
  readonly label: string;
  /** pixels */
  readonly minWidth: number;
  readonly grow: number;
  /** as `sortBy` of the search */
  readonly sortBy?: string;
  readonly isTags?: true;
  /** @param projectName the name of the project of the flag */
  readonly cell: (flag: SearchResultFeature, projectName: string) => React.ReactNode;
}

/** What a list shows beside the name and the environments, in the order in which it is shown. */
const detailColumns = {
  project: {
    id: 'project',
    label: 'Project',
    minWidth: 104,
    grow: 0.8,
    sortBy: 'project',
    cell: ({ project }, name) => (
      <Link to="/projects/$project/flags" params={{ project }} className={styles['plain'] ?? ''}>
        <bdi {...(name !== project && { title: project })}>{name}</bdi>
      </Link>
    ),
  },
  type: { id: 'type', label: 'Type', minWidth: 104, grow: 0.6, sortBy: 'type', cell: ({ type }) => type },
  lastSeen: {
    id: 'lastSeen',
    label: 'Last seen',
    minWidth: 112,
    grow: 0.6,
    sortBy: 'lastSeenAt',
    cell: (flag) => <Time at={lastSeenOf(flag)} />,
  },
  owner: { id: 'owner', label: 'Owner', minWidth: 112, grow: 0.9, cell: ({ createdBy }) => createdBy.name },
  tags: {
    id: 'tags',
    label: 'Tags',
    minWidth: 128,
    grow: 1.4,
    isTags: true,
    cell: ({ tags }) => (
      <>
        {(tags ?? []).slice(0, 3).map(({ type, value }) => (
          <span key={`${type}:${value}`} className={`${chip['chip']} ${styles['tag']}`}>
            {type === 'simple' ? value : `${type}:${value}`}
          </span>
        ))}
        {(tags ?? []).length > 3 && <span>+{(tags ?? []).length - 3}</span>}
      </>
    ),
  },
} as const satisfies Record<string, DetailColumn>;

/** The columns that go first where there is not enough room. */
const dispensable = [detailColumns.owner, detailColumns.type, detailColumns.tags, detailColumns.lastSeen];

/** `words` is what an environment needs more than its least width to show words such as “50 % of 1 rule” with a mark beside them. */
const widths = { select: 32, star: 28, name: 190, environment: 120, words: 24, usage: 52, padding: 48 } as const;

/** The least width of a list, in pixels. @param environment of the column of each environment */
function widthOf(details: readonly DetailColumn[], environmentCount: number, environment: number): number {
  const { select, star, name, padding } = widths;
  const ofDetails = details.reduce((sum, { minWidth }) => sum + minWidth, 0);
  return select + star + name + padding + environmentCount * environment + ofDetails;
}

/** The details for which a list has room, without the ones that it can do without soonest. @param width of the list, in pixels */
function detailsThatFit(
  width: number,
  environmentCount: number,
  { showsProject, environmentWidth }: { readonly showsProject: boolean; readonly environmentWidth: number },
): readonly DetailColumn[] {
  const { project, type, lastSeen, owner, tags } = detailColumns;
  const all: readonly DetailColumn[] = [...(showsProject ? [project] : []), type, lastSeen, owner, tags];
  let kept = all;
  for (const column of dispensable) {
    if (widthOf(kept, environmentCount, environmentWidth) <= width) break;
    kept = kept.filter((one) => one !== column);
  }
  return kept;
}

/** The width of an element in pixels, and whether more of its content follows beyond its end. */
function useRoom(scroller: RefObject<HTMLDivElement | null>) {
  const [room, setRoom] = useState({ width: window.innerWidth, hasMore: false });
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null) return undefined;
    const measure = (): void => {
      const { clientWidth: width, scrollWidth, scrollLeft } = element;
      const hasMore = scrollWidth - width - Math.abs(scrollLeft) > 1;
      setRoom((before) => (before.width === width && before.hasMore === hasMore ? before : { width, hasMore }));
    };
    measure();
    const observer = new ResizeObserver(measure);
    observer.observe(element);
    if (element.firstElementChild !== null) observer.observe(element.firstElementChild);
    element.addEventListener('scroll', measure, { passive: true });
    return () => {
      observer.disconnect();
      element.removeEventListener('scroll', measure);
    };
  }, [scroller]);
  return room;
}

interface SwitchCellProps {
  readonly flag: SearchResultFeature;
  readonly environment: string;
  /** whether there is no room for words such as “50 % of 1 rule” */
  readonly isNarrow: boolean;
  readonly editStatus: EditStatus;
  readonly usageOf: RecentUsageOf | undefined;
  readonly mayToggle: (project: string, environment: string, addsStrategy: boolean) => boolean;
  readonly isPending: boolean;
  readonly onToggle: RowActions['toggle'];
}

/** Whether a change waits, or else an edit would need a change request: one mark, since changes wait where edits need one. */
function EditMark({ flag, environment, editStatus }: Pick<SwitchCellProps, 'flag' | 'environment' | 'editStatus'>) {
  if (editStatus.isWaiting(flag.name, environment))
    return (
      <span role="img" aria-label="a change waits" title={`A change request for ${environment} waits`}>
        <Icon name="events" />
      </span>
    );
  return (
    editStatus.isProtected(flag.project, environment) && (
      <span role="img" aria-label="protected" title={`Edits in ${environment} need a change request`}>
        <Icon name="lock" />
      </span>
    )
  );
}

// A plain button with the role of a switch, since the component `Switch` is too slow to scroll a hundred of them smoothly.
function SwitchCell({
  flag,
  environment,
  isNarrow,
  editStatus,
  usageOf,
  mayToggle,
  isPending,
  onToggle,
}: SwitchCellProps) {
  const state = flag.environments.find(({ name }) => name === environment);
  if (state === undefined) return <span className={styles['absent']}>–</span>;
  const segmentName = (id: number): string => flag.segments[flag.segmentIds?.indexOf(id) ?? -1] ?? `segment ${id}`;
  const words = state.reach && reachWords(state.reach, segmentName);
  const usage = usageOf?.(flag.name, environment);
  const addsStrategy = !state.enabled && state.hasStrategies === false;
  return (
    <div className={styles['reach']}>
      <button
        type="button"
        role="switch"
        aria-checked={state.enabled}
        aria-label={`${flag.name} in ${environment}`}
        title={environment}
        disabled={!mayToggle(flag.project, environment, addsStrategy) || flag.archivedAt !== null}
        aria-busy={isPending}
        className={styles['switch']}
        onClick={() => onToggle(flag, environment, !state.enabled)}
      />
      {words && (
        <span
          className={styles['reachWords']}
          data-extent={state.reach?.extent}
          title={`${environment} is ${words.long}`}
        >
          <bdi>{isNarrow ? words.shortest : words.short}</bdi>
        </span>
      )}
      <EditMark flag={flag} environment={environment} editStatus={editStatus} />
      {usage !== undefined && <Sparkline yes={usage.yes} no={usage.no} />}
    </div>
  );
}

/** How a flag matches the text of the filter. */
type Match = NonNullable<SearchFeaturesResponse['matches']>[number];

interface RowProps {
  readonly flag: SearchResultFeature | undefined;
  readonly match: Match | undefined;
  /** whether flags that are only similar are among the others, not below them */
  readonly isMixed: boolean;
  readonly editStatus: EditStatus;
  readonly usageOf: RecentUsageOf | undefined;
  readonly projectName: string;
  readonly row: number;
  readonly top: number;
  readonly environments: readonly ListedEnvironment[];
  readonly isNarrow: boolean;
  readonly details: readonly DetailColumn[];
  readonly isSelected: boolean;
  readonly isActive: boolean;
  /** the environment in which a switch of the flag is pending */
  readonly pendingEnvironment: string | undefined;
  readonly mayToggle: (project: string, environment: string, addsStrategy: boolean) => boolean;
  /** whether there is something that the user may do with selected flags */
  readonly maySelect: boolean;
  readonly actions: RowActions;
}

const Row = memo(
  ({
    flag,
    match,
    isMixed,
    editStatus,
    usageOf,
    projectName,
    row,
    top,
    environments,
    isNarrow,
    details,
    isSelected,
    isActive,
    pendingEnvironment,
    mayToggle,
    maySelect,
    actions,
  }: RowProps) => {
    const rowProps = {
      role: 'row',
      'aria-rowindex': row + 2,
      className: styles['row'],
      style: { transform: `translateY(${top}px)` },
    } as const;
    if (flag === undefined) {
      return (
        <div {...rowProps} aria-busy="true">
          <div role="cell" className={styles['waiting']}>
            <span className="visually-hidden">Loading…</span>
          </div>
        </div>
      );
    }
    return (
      <div {...rowProps} data-selected={isSelected || undefined} data-active={isActive || undefined}>
        <div role="cell" className={styles['selectCell']}>
          {maySelect && (
            <input
              type="checkbox"
              aria-label={`Select ${flag.name}`}
              checked={isSelected}
              onChange={() => undefined}
              onClick={(event) => actions.select(row, flag.name, event.shiftKey)}
            />
          )}
        </div>
        <div role="cell" className={styles['starCell']}>
          <button
            type="button"
            aria-pressed={flag.favorite}
            aria-label={`Favourite ${flag.name}`}
            className={styles['star']}
            onClick={() => actions.toggleFavorite(flag, !flag.favorite)}
          >
            <Icon name="star" filled={flag.favorite} />
          </button>
        </div>
        <div role="rowheader" className={styles['nameCell']}>
          <Link
            to="/projects/$project/features/$feature"
            params={{ project: flag.project, feature: flag.name }}
            className={styles['name'] ?? ''}
            title={flag.description ?? flag.name}
            preload={false}
          >
            <MarkedText text={flag.name} parts={match?.parts ?? []} />
          </Link>
          {isMixed && match?.isExact === false && <span className={chip['chip']}>similar</span>}
          {flag.stale && <span className={`${chip['chip']} ${styles['stale']}`}>stale</span>}
          {flag.archivedAt !== null && <span className={chip['chip']}>archived</span>}
        </div>
        {environments.map(({ name }) => (
          <div role="cell" key={name} className={styles['environmentCell']}>
            <SwitchCell
              flag={flag}
              environment={name}
              isNarrow={isNarrow}
              editStatus={editStatus}
              usageOf={usageOf}
              mayToggle={mayToggle}
              isPending={pendingEnvironment === name}
              onToggle={actions.toggle}
            />
          </div>
        ))}
        {details.map((column) => (
          <div
            role="cell"
            key={column.id}
            className={`${styles['wide']} ${column.isTags === true ? styles['tags'] : ''}`}
            title={
              column.isTags === true ? flag.tags?.map(({ type, value }) => `${type}:${value}`).join(', ') : undefined
            }
          >
            {column.cell(flag, projectName)}
          </div>
        ))}
      </div>
    );
  },
);
Row.displayName = 'Row';

interface HeaderProps {
  readonly column: string;
  readonly label: React.ReactNode;
  readonly title?: string;
  readonly sort: SortState;
  readonly onSort: (column: string) => void;
  readonly className?: string | undefined;
}

function SortHeader({ column, label, title, sort, onSort, className = '' }: HeaderProps) {
  const isSorted = sort.column === column;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
      className={className}
    >
      <button type="button" className={styles['sort']} title={title} onClick={() => onSort(column)}>
        <span className={styles['sortLabel']}>{label}</span>
        {isSorted && <Icon name={sort.isDescending ? 'arrowDown' : 'arrowUp'} />}
      </button>
    </div>
  );
}

interface FlagTableProps {
  readonly label: string;
  readonly total: number;
  /** whether the rows are those of an earlier filter, while those of the current one are loading */
  readonly isOutdated: boolean;
  readonly rowAt: (row: number) => SearchResultFeature | undefined;
  readonly matchAt: (row: number) => Match | undefined;
  /** the first row that is only similar to the text of the filter */
  readonly firstSimilar: number | undefined;
  readonly editStatus: EditStatus;
  /** undefined where the person does not want it */
  readonly usageOf: RecentUsageOf | undefined;
  readonly environments: readonly ListedEnvironment[];
  readonly showsProject: boolean;
  readonly sort: SortState;
  readonly onSort: (column: string) => void;
  readonly isSelected: (name: string) => boolean;
  readonly selectedCount: number;
  /** how many flags are not only similar to the text of the filter; undefined if it is not known */
  readonly exactTotal: number | undefined;
  readonly onSelectAll: (selected: boolean) => void;
  /** the row on which shortcuts act; -1 for none */
  readonly activeRow: number;
  /** by flag, the environment in which its switch is pending */
  readonly pendingEnvironments: ReadonlyMap<string, string>;
  readonly mayToggle: (project: string, environment: string, addsStrategy: boolean) => boolean;
  /** whether there is something that the user may do with selected flags */
  readonly maySelect: boolean;
  readonly actions: RowActions;
  /** called with the first and last row on the screen */
  readonly onVisibleRangeChange: (first: number, last: number) => void;
  readonly scroller: RefObject<HTMLDivElement | null>;
}

/** The list of flags. Only the rows on the screen are in the document; ARIA attributes tell assistive technology which rows they are. */
export function FlagTable({
  scroller,
  total,
  onVisibleRangeChange,
  activeRow,
  sort,
  onSort,
  environments,
  firstSimilar,
  ...props
}: FlagTableProps) {
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: (row) => rowHeight + (row === firstSimilar ? similarHeadHeight : 0),
    overscan,
  });
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, firstSimilar]);
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onVisibleRangeChange(first, last), [onVisibleRangeChange, first, last]);
  useEffect(() => {
    if (activeRow >= 0) virtualizer.scrollToIndex(activeRow, { align: 'auto' });
  }, [activeRow, virtualizer]);
  const { width, hasMore } = useRoom(scroller);
  const projectNameOf = useProjectNames();
  // Usage is left out where it would take the room of the project, or of names that are longer.
  const fits = (environment: number): boolean =>
    widthOf([detailColumns.project], environments.length, environment) <= width;
  const usageOf = fits(widths.environment + widths.usage) ? props.usageOf : undefined;
  const narrow = widths.environment + (usageOf === undefined ? 0 : widths.usage);
  // Words are shortened before a project is left out, and not for what one can do without.
  const environmentWidth = fits(narrow + widths.words) ? narrow + widths.words : narrow;
  const details = useMemo(
    () => detailsThatFit(width, environments.length, { showsProject: props.showsProject, environmentWidth }),
    [width, environments.length, props.showsProject, environmentWidth],
  );
  const isAllSelected = props.selectedCount > 0 && props.selectedCount >= (props.exactTotal ?? total);
  const columns = [
    `${widths.select}px ${widths.star}px minmax(${widths.name}px, 2fr)`,
    ...environments.map(() => `minmax(${environmentWidth}px, 0.5fr)`),
    ...details.map(({ minWidth, grow }) => `minmax(${minWidth}px, ${grow}fr)`),
  ].join(' ');
  return (
    <div className={`${styles['frame']} ${hasMore ? styles['hasMore'] : ''}`}>
      <div
        ref={scroller}
        className={`${layout['scroller']} ${props.isOutdated ? styles['outdated'] : ''}`}
        aria-busy={props.isOutdated}
        role="region"
        aria-label={props.label}
        tabIndex={0}
      >
        <div
          role="table"
          aria-label={props.label}
          aria-rowcount={total + 1}
          className={styles['table']}
          style={
            {
              '--wide-columns': columns,
              '--wide-width': `${widthOf(details, environments.length, environmentWidth)}px`,
              '--environments': environments.length,
            } as React.CSSProperties
          }
        >
          <div role="rowgroup" className={styles['header']}>
            <div role="row" aria-rowindex={1} className={styles['headRow']}>
              <div role="columnheader" className={styles['selectCell']}>
                {props.maySelect && (
                  <input
                    type="checkbox"
                    aria-label="Select all that match"
                    disabled={props.exactTotal === 0}
                    checked={isAllSelected}
                    ref={(box) => {
                      if (box !== null) box.indeterminate = props.selectedCount > 0 && !isAllSelected;
                    }}
                    onChange={({ target }) => props.onSelectAll(target.checked)}
                  />
                )}
              </div>
              <div role="columnheader">
                <span className="visually-hidden">Favourite</span>
              </div>
              <SortHeader column="name" label="Name" sort={sort} onSort={onSort} className={styles['nameHead']} />
              {environments.map(({ name, type }) => (
                <SortHeader
                  key={name}
                  column={`reach:${name}`}
                  label={<EnvironmentName name={name} type={type} />}
                  title={name}
                  sort={sort}
                  onSort={onSort}
                  className={styles['environmentHead']}
                />
              ))}
              {details.map(({ id, label, sortBy }) =>
                sortBy === undefined ? (
                  <div key={id} role="columnheader" className={styles['wide']}>
                    {label}
                  </div>
                ) : (
                  <SortHeader
                    key={id}
                    column={sortBy}
                    label={label}
                    sort={sort}
                    onSort={onSort}
                    className={styles['wide']}
                  />
                ),
              )}
            </div>
          </div>
          <div role="rowgroup" className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
            {items.flatMap(({ index, start }) => {
              const flag = props.rowAt(index);
              const isFirstSimilar = index === firstSimilar;
              return [
                isFirstSimilar && (
                  <div
                    key="similar"
                    role="row"
                    className={styles['similarHead']}
                    style={{ transform: `translateY(${start}px)` }}
                  >
                    <div role="cell">Similar</div>
                  </div>
                ),
                <Row
                  key={index}
                  row={index}
                  top={start + (isFirstSimilar ? similarHeadHeight : 0)}
                  flag={flag}
                  match={props.matchAt(index)}
                  isMixed={sort.column !== undefined}
                  editStatus={props.editStatus}
                  usageOf={usageOf}
                  projectName={flag === undefined ? '' : projectNameOf(flag.project)}
                  environments={environments}
                  isNarrow={environmentWidth === narrow}
                  details={details}
                  isSelected={flag !== undefined && props.isSelected(flag.name)}
                  isActive={index === activeRow}
                  pendingEnvironment={flag === undefined ? undefined : props.pendingEnvironments.get(flag.name)}
                  mayToggle={props.mayToggle}
                  maySelect={props.maySelect}
                  actions={props.actions}
                />,
              ];
            })}
          </div>
        </div>
      </div>
    </div>
  );
}
