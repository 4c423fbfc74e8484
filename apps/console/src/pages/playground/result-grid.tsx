import type { PlaygroundCell, PlaygroundTable } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { playgroundMessages as text } from '../../messages/playground.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { contextLine } from './context-text.ts';
import type { CellAddress } from './result-reasons-dialog.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

type Flag = PlaygroundTable['features'][number];
type Context = Readonly<Record<string, string>>;

const rowHeight = 36;
/** More columns than this are not drawn: they would not be read, and a browser would draw them slowly. */
const maxColumns = 120;

const resultOf = ({ isEnabled, variant, isUnknown }: Pick<PlaygroundCell, 'isEnabled' | 'variant' | 'isUnknown'>) => {
  if (isUnknown) return text.unknown;
  return isEnabled ? (variant === null ? text.on : text.onVariant(variant)) : text.off;
};

interface Column {
  readonly environment: string;
  /** the context; undefined where the rows are contexts */
  readonly context: number | undefined;
}

interface ResultGridProps {
  readonly environments: readonly string[];
  readonly contexts: readonly Context[];
  readonly flags: readonly Flag[];
  readonly isOutdated: boolean;
  readonly onOpen: (cell: CellAddress) => void;
  /** the last rows are on the screen */
  readonly onReachEnd: () => void;
}

/**
 * The results: a row for each flag with a column for each context of each environment, or for a single flag a row for each context.
 * Only rows on the screen are in the document. Arrow keys move between results, Enter opens the reasons of one.
 */
export const ResultGrid = ({ environments, contexts, flags, isOutdated, onOpen, onReachEnd }: ResultGridProps) => {
  const scroller = useRef<HTMLDivElement>(null);
  const [active, setActive] = useState({ row: 0, column: 0 });
  const only = flags.length === 1 ? flags[0] : undefined;
  const rows = only === undefined ? flags.length : contexts.length;
  const allColumns: Column[] = environments.flatMap((environment): Column[] =>
    only === undefined
      ? contexts.map((_context, context) => ({ environment, context }))
      : [{ environment, context: undefined }],
  );
  const columns = allColumns.slice(0, maxColumns);
  const virtual = useVirtualizer({
    count: rows,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const items = virtual.getVirtualItems();
  const last = items.at(-1)?.index ?? 0;
  const isAtEnd = rows > 0 && last >= rows - 10;
  useEffect(() => {
    if (isAtEnd) onReachEnd();
  }, [isAtEnd, onReachEnd, rows]);

  const move = (row: number, column: number): void => {
    const next = {
      row: Math.max(0, Math.min(rows - 1, row)),
      column: Math.max(0, Math.min(columns.length - 1, column)),
    };
    setActive(next);
    virtual.scrollToIndex(next.row, { align: 'auto' });
    requestAnimationFrame(() =>
      scroller.current?.querySelector<HTMLElement>(`[data-at="${next.row} ${next.column}"]`)?.focus(),
    );
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { row, column } = active;
    if (event.key === 'ArrowDown') move(row + 1, column);
    else if (event.key === 'ArrowUp') move(row - 1, column);
    else if (event.key === 'ArrowRight') move(row, column + 1);
    else if (event.key === 'ArrowLeft') move(row, column - 1);
    else if (event.key === 'Home') move(event.ctrlKey ? 0 : row, 0);
    else if (event.key === 'End') move(event.ctrlKey ? rows - 1 : row, columns.length - 1);
    else return;
    event.preventDefault();
  };
  // A shorter list of results has its first one in the order of Tab.
  const isActive = (row: number, column: number): boolean =>
    active.row < rows && active.column < columns.length
      ? active.row === row && active.column === column
      : row === 0 && column === 0;
  const contextName = (context: Context | undefined): string => contextLine(context ?? {}) || text.anyone;
  return (
    <>
      {columns.length < allColumns.length && (
        <p className={layout['small']}>{text.tooMany(columns.length, allColumns.length)}</p>
      )}
      <div ref={scroller} className={`${styles['scroller']} ${isOutdated ? styles['outdated'] : ''}`}>
        {/* The keys are those of the grid; its cells hold the focus. */}
        <div
          role="grid"
          tabIndex={-1}
          aria-label={text.table}
          aria-rowcount={rows + 1}
          aria-colcount={columns.length + 1}
          className={styles['grid']}
          style={{ '--columns': columns.length } as React.CSSProperties}
          onKeyDown={onKeyDown}
        >
          <div role="rowgroup" className={styles['header']}>
            <div role="row" aria-rowindex={1} className={styles['row']}>
              <div role="columnheader" className={styles['name']}>
                {only === undefined ? text.flag : text.contexts}
              </div>
              {columns.map(({ environment, context }, nth) => (
                <div role="columnheader" key={nth}>
                  <span className={styles['environment']}>{environment}</span>
                  {context !== undefined && (
                    <>
                      {' '}
                      <code>{contextName(contexts[context])}</code>
                    </>
                  )}
                </div>
              ))}
            </div>
          </div>
          <div role="rowgroup" className={styles['body']} style={{ height: virtual.getTotalSize() }}>
            {items.map(({ index, start }) => {
              const flag = only ?? flags[index];
              if (flag === undefined) return null;
              return (
                <div
                  role="row"
                  key={index}
                  aria-rowindex={index + 2}
                  className={styles['row']}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <div role="rowheader" className={styles['name']}>
                    {only === undefined ? (
                      <Link
                        to="/projects/$project/features/$feature"
                        params={{ project: flag.projectId, feature: flag.name }}
                        preload={false}
                        title={`${flag.name} (${flag.projectId})`}
                      >
                        <bdi>{flag.name}</bdi>
                      </Link>
                    ) : (
                      <code title={contextName(contexts[index])}>{contextName(contexts[index])}</code>
                    )}
                  </div>
                  {columns.map(({ environment, context: nth }, column) => {
                    const at = nth ?? index;
                    const cell = flag.environments[environment]?.[at];
                    const context = contexts[at] ?? {};
                    if (cell === undefined) return <div role="gridcell" key={column} />;
                    const result =
                      cell.proposed === undefined
                        ? resultOf(cell)
                        : text.changes(resultOf(cell), resultOf(cell.proposed));
                    return (
                      <div role="gridcell" key={column}>
                        <button
                          type="button"
                          className={styles['cell']}
                          data-at={`${index} ${column}`}
                          data-on={cell.isEnabled || undefined}
                          data-changed={cell.proposed !== undefined || undefined}
                          tabIndex={isActive(index, column) ? 0 : -1}
                          aria-label={text.cell(flag.name, environment, contextName(context), result)}
                          title={contextName(context)}
                          onFocus={() => setActive({ row: index, column })}
                          onClick={() => onOpen({ flag: flag.name, project: flag.projectId, environment, context })}
                        >
                          {result}
                        </button>
                      </div>
                    );
                  })}
                </div>
              );
            })}
          </div>
        </div>
        {rows === 0 && <p className="visually-hidden">{sharedMessages.common.nothingFound}</p>}
      </div>
    </>
  );
};
