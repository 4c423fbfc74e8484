import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef } from 'react';
import { useEnvironments } from '../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import { Badge } from '../../components/content/badge.tsx';
import { Time } from '../../components/content/time.tsx';
import { reasonTexts, type CleanupFlag } from './use-cleanup-list.ts';
import layout from '../../components/layout/layout.module.css';
import { ProjectName } from '../../components/content/project-name.tsx';
import styles from './cleanup.module.css';

const rowHeight = 56;

type EnvironmentTypes = ReadonlyMap<string, string>;

interface CleanupTableProps {
  readonly label: string;
  /** whether the flags are of several projects, which stand below their names */
  readonly hasProjects: boolean;
  readonly flags: readonly CleanupFlag[];
  /** the number of flags of the query, also of those that are not yet loaded */
  readonly total: number;
  /** whether the rows are those of the previous query, while the current one is loading */
  readonly isOutdated: boolean;
  readonly selectedCount: number;
  readonly isSelected: (name: string) => boolean;
  readonly onSelect: (names: readonly string[], isSelected: boolean) => void;
  readonly onSelectAll: (isSelected: boolean) => void;
  /** called when fewer than ten loaded rows follow those in the document */
  readonly onReachEnd: () => void;
}

/** Where the flag was used last, production first; of many environments one, and how many more there are. */
function LastUse({ flag: { environments }, types }: { readonly flag: CleanupFlag; readonly types: EnvironmentTypes }) {
  const ordered = environments.toSorted(
    (a, b) =>
      Number(types.get(b.name) === 'production') - Number(types.get(a.name) === 'production') ||
      (b.lastSeenAt ?? '').localeCompare(a.lastSeenAt ?? ''),
  );
  const shown = ordered.slice(0, ordered.length > 2 ? 1 : 2);
  const others = ordered.slice(shown.length);
  return (
    <>
      {shown.map(({ name, enabled, lastSeenAt }) => (
        <span key={name} className={styles['oneLine']}>
          <EnvironmentName name={name} type={types.get(name)} />{' '}
          <span className={layout['small']}>{enabled ? 'on' : 'off'} ·</span>{' '}
          {lastSeenAt === null ? <span className={layout['small']}>never used</span> : <Time at={lastSeenAt} />}
        </span>
      ))}
      {others.length > 0 && (
        <span
          className={`${styles['oneLine']} ${layout['small']}`}
          title={others.map(({ name, enabled }) => `${name} ${enabled ? 'on' : 'off'}`).join(', ')}
        >
          +{others.length}: {others.map(({ name }) => name).join(', ')}
        </span>
      )}
    </>
  );
}

/** Flags that may be no longer needed. Only the rows on the screen are in the document. A click with Shift selects a range. */
export function CleanupTable({ flags, total, isOutdated, onReachEnd, ...props }: CleanupTableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const { data } = useEnvironments();
  const types = new Map((data?.environments ?? []).map(({ name, type }) => [name, type]));
  /** the row of the last click, where a range begins; -1 before the first click */
  const anchor = useRef(-1);
  const virtualizer = useVirtualizer({
    count: flags.length,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  const isAtEnd = flags.length > 0 && (items.at(-1)?.index ?? 0) >= flags.length - 10;
  useEffect(() => {
    if (isAtEnd) onReachEnd();
  }, [isAtEnd, onReachEnd, flags.length]);
  const select = (row: number, name: string, isRange: boolean): void => {
    const from = isRange && anchor.current >= 0 ? anchor.current : row;
    const names = flags.slice(Math.min(from, row), Math.max(from, row) + 1).map((flag) => flag.name);
    anchor.current = row;
    props.onSelect(names, !props.isSelected(name));
  };
  return (
    <div
      ref={scroller}
      className={`${styles['scroller']} ${isOutdated ? styles['outdated'] : ''}`}
      aria-busy={isOutdated}
      role="region"
      aria-label={props.label}
      tabIndex={0}
    >
      <div role="table" aria-label={props.label} aria-rowcount={total + 1} className={styles['table']}>
        <div role="rowgroup" className={styles['header']}>
          <div role="row" aria-rowindex={1} className={styles['row']}>
            <div role="columnheader">
              <input
                type="checkbox"
                aria-label="Select all"
                checked={props.selectedCount > 0 && props.selectedCount >= total}
                ref={(box) => {
                  if (box !== null) box.indeterminate = props.selectedCount > 0 && props.selectedCount < total;
                }}
                onChange={({ target }) => props.onSelectAll(target.checked)}
              />
            </div>
            {['Flag', 'Why', 'Last use', 'Created by', 'Needed by'].map((title) => (
              <div role="columnheader" key={title}>
                {title}
              </div>
            ))}
          </div>
        </div>
        <div role="rowgroup" className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
          {items.map(({ index, start }) => {
            const flag = flags[index];
            if (flag === undefined) return null;
            const { name, project, reasons, createdBy, createdAt, neededBy } = flag;
            const isSelected = props.isSelected(name);
            return (
              <div
                role="row"
                key={name}
                aria-rowindex={index + 2}
                data-selected={isSelected || undefined}
                className={styles['row']}
                style={{ transform: `translateY(${start}px)` }}
              >
                <div role="cell">
                  <input
                    type="checkbox"
                    aria-label={`Select ${name}`}
                    checked={isSelected}
                    onChange={() => undefined}
                    onClick={(event) => select(index, name, event.shiftKey)}
                  />
                </div>
                <div role="rowheader">
                  <Link
                    to="/projects/$project/features/$feature"
                    params={{ project, feature: name }}
                    preload={false}
                    className={styles['oneLine'] ?? ''}
                    title={flag.description ?? name}
                  >
                    <bdi>{name}</bdi>
                  </Link>
                  {props.hasProjects && (
                    <span className={`${styles['oneLine']} ${layout['small']}`}>
                      <ProjectName id={project} />
                    </span>
                  )}
                </div>
                <div role="cell">
                  <div className={styles['badges']}>
                    {reasons.map((reason) => (
                      <Badge key={reason} tone={reason === 'stale' ? 'warning' : 'neutral'}>
                        {reasonTexts[reason]}
                      </Badge>
                    ))}
                  </div>
                </div>
                <div role="cell">
                  <LastUse flag={flag} types={types} />
                </div>
                <div role="cell">
                  <span className={styles['oneLine']}>{createdBy}</span>
                  <span className={`${styles['oneLine']} ${layout['small']}`}>
                    <Time at={createdAt} />
                  </span>
                </div>
                <div role="cell">
                  <span className={styles['oneLine']} title={neededBy.join(', ')}>
                    {neededBy.join(', ')}
                  </span>
                </div>
              </div>
            );
          })}
        </div>
      </div>
    </div>
  );
}
