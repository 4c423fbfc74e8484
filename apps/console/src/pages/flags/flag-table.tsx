import type { SearchResultFeature } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, type RefObject, useEffect } from 'react';
import { Icon } from '../../components/content/icon.tsx';
import { Time } from '../../components/content/time.tsx';
import chip from '../../components/content/chip.module.css';
import layout from '../../components/layout/layout.module.css';
import styles from './flags.module.css';
const rowHeight = 36;
const overscan = 12;

export interface SortState {
  /** as `sortBy` of the search, such as `lastSeenAt` or `environment:production` */
  readonly column: string;
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

interface SwitchCellProps {
  readonly flag: SearchResultFeature;
  readonly environment: string;
  readonly mayToggle: boolean;
  readonly isPending: boolean;
  readonly onToggle: RowActions['toggle'];
}

// A plain button with the role of a switch, since the component `Switch` is too slow to scroll a hundred of them smoothly.
function SwitchCell({ flag, environment, mayToggle, isPending, onToggle }: SwitchCellProps) {
  const state = flag.environments.find(({ name }) => name === environment);
  if (state === undefined) return <span className={styles['absent']}>–</span>;
  return (
    <button
      type="button"
      role="switch"
      aria-checked={state.enabled}
      aria-label={`${flag.name} in ${environment}`}
      title={environment}
      disabled={!mayToggle || flag.archivedAt !== null}
      aria-busy={isPending}
      className={styles['switch']}
      onClick={() => onToggle(flag, environment, !state.enabled)}
    />
  );
}

interface RowProps {
  readonly flag: SearchResultFeature | undefined;
  readonly row: number;
  readonly top: number;
  readonly environments: readonly string[];
  readonly showsProject: boolean;
  readonly isSelected: boolean;
  readonly isActive: boolean;
  /** the environment in which a switch of the flag is pending */
  readonly pendingEnvironment: string | undefined;
  readonly mayToggle: (project: string, environment: string) => boolean;
  readonly actions: RowActions;
}

const Row = memo(
  ({
    flag,
    row,
    top,
    environments,
    showsProject,
    isSelected,
    isActive,
    pendingEnvironment,
    mayToggle,
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
          <input
            type="checkbox"
            aria-label={`Select ${flag.name}`}
            checked={isSelected}
            onChange={() => undefined}
            onClick={(event) => actions.select(row, flag.name, event.shiftKey)}
          />
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
            <bdi>{flag.name}</bdi>
          </Link>
          {flag.stale && <span className={`${chip['chip']} ${styles['stale']}`}>stale</span>}
          {flag.archivedAt !== null && <span className={chip['chip']}>archived</span>}
        </div>
        {environments.map((environment) => (
          <div role="cell" key={environment}>
            <SwitchCell
              flag={flag}
              environment={environment}
              mayToggle={mayToggle(flag.project, environment)}
              isPending={pendingEnvironment === environment}
              onToggle={actions.toggle}
            />
          </div>
        ))}
        {showsProject && (
          <div role="cell" className={styles['wide']}>
            <Link to="/projects/$project/flags" params={{ project: flag.project }} className={styles['plain'] ?? ''}>
              {flag.project}
            </Link>
          </div>
        )}
        <div role="cell" className={styles['wide']}>
          {flag.type}
        </div>
        <div role="cell" className={styles['wide']}>
          <Time at={lastSeenOf(flag)} />
        </div>
        <div role="cell" className={styles['wide']}>
          {flag.createdBy.name}
        </div>
        <div role="cell" className={`${styles['wide']} ${styles['tags']}`}>
          {(flag.tags ?? []).slice(0, 3).map(({ type, value }) => (
            <span key={`${type}:${value}`} className={`${chip['chip']} ${styles['tag']}`} title={`${type}:${value}`}>
              {type === 'simple' ? value : `${type}:${value}`}
            </span>
          ))}
          {(flag.tags ?? []).length > 3 && <span>+{(flag.tags ?? []).length - 3}</span>}
        </div>
      </div>
    );
  },
);
Row.displayName = 'Row';

interface HeaderProps {
  readonly column: string;
  readonly label: string;
  readonly sort: SortState;
  readonly onSort: (column: string) => void;
  readonly className?: string | undefined;
}

function SortHeader({ column, label, sort, onSort, className = '' }: HeaderProps) {
  const isSorted = sort.column === column;
  return (
    <div
      role="columnheader"
      aria-sort={isSorted ? (sort.isDescending ? 'descending' : 'ascending') : 'none'}
      className={className}
    >
      <button type="button" className={styles['sort']} onClick={() => onSort(column)}>
        {label}
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
  readonly environments: readonly string[];
  readonly showsProject: boolean;
  readonly sort: SortState;
  readonly onSort: (column: string) => void;
  readonly isSelected: (name: string) => boolean;
  readonly selectedCount: number;
  readonly onSelectAll: (selected: boolean) => void;
  /** the row on which shortcuts act; -1 for none */
  readonly activeRow: number;
  /** by flag, the environment in which its switch is pending */
  readonly pendingEnvironments: ReadonlyMap<string, string>;
  readonly mayToggle: (project: string, environment: string) => boolean;
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
  ...props
}: FlagTableProps) {
  const virtualizer = useVirtualizer({
    count: total,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan,
  });
  const items = virtualizer.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => onVisibleRangeChange(first, last), [onVisibleRangeChange, first, last]);
  useEffect(() => {
    if (activeRow >= 0) virtualizer.scrollToIndex(activeRow, { align: 'auto' });
  }, [activeRow, virtualizer]);
  const gridVariables = {
    '--environments': environments.length,
    '--project': props.showsProject ? 'minmax(100px, 0.8fr)' : '0px',
  } as React.CSSProperties;
  return (
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
        className={`${styles['table']} ${props.showsProject ? '' : styles['oneProject']}`}
        style={gridVariables}
      >
        <div role="rowgroup" className={styles['header']}>
          <div role="row" aria-rowindex={1} className={styles['headRow']}>
            <div role="columnheader" className={styles['selectCell']}>
              <input
                type="checkbox"
                aria-label="Select all that match"
                checked={props.selectedCount > 0 && props.selectedCount >= total}
                ref={(box) => {
                  if (box !== null) box.indeterminate = props.selectedCount > 0 && props.selectedCount < total;
                }}
                onChange={({ target }) => props.onSelectAll(target.checked)}
              />
            </div>
            <div role="columnheader">
              <span className="visually-hidden">Favourite</span>
            </div>
            <SortHeader column="name" label="Name" sort={sort} onSort={onSort} />
            {environments.map((environment) => (
              <SortHeader
                key={environment}
                column={`environment:${environment}`}
                label={environment}
                sort={sort}
                onSort={onSort}
              />
            ))}
            {props.showsProject && (
              <SortHeader column="project" label="Project" sort={sort} onSort={onSort} className={styles['wide']} />
            )}
            <SortHeader column="type" label="Type" sort={sort} onSort={onSort} className={styles['wide']} />
            <SortHeader column="lastSeenAt" label="Last seen" sort={sort} onSort={onSort} className={styles['wide']} />
            <div role="columnheader" className={styles['wide']}>
              Owner
            </div>
            <div role="columnheader" className={styles['wide']}>
              Tags
            </div>
          </div>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const flag = props.rowAt(index);
            return (
              <Row
                key={index}
                row={index}
                top={start}
                flag={flag}
                environments={environments}
                showsProject={props.showsProject}
                isSelected={flag !== undefined && props.isSelected(flag.name)}
                isActive={index === activeRow}
                pendingEnvironment={flag === undefined ? undefined : props.pendingEnvironments.get(flag.name)}
                mayToggle={props.mayToggle}
                actions={props.actions}
              />
            );
          })}
        </div>
      </div>
    </div>
  );
}
