import type { PlaygroundCell, PlaygroundTable } from '@bunting/contracts';
import { Link } from '@tanstack/react-router';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { contextLine } from './playground-input.ts';
import type { ResultCell } from './result-reasons-dialog.tsx';
import { EnvironmentName } from '../../components/environments/environment-name.tsx';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

type Flag = PlaygroundTable['features'][number];
type Context = Readonly<Record<string, string>>;

const rowHeight = 36;
/** More columns than this are not drawn: they are too many to read, and a browser would draw them slowly. */
const maxColumns = 120;

function resultOf({ isEnabled, variant, isUnknown }: Pick<PlaygroundCell, 'isEnabled' | 'variant' | 'isUnknown'>) {
  if (isUnknown) return 'unknown';
  return isEnabled ? (variant === null ? 'on' : `on, ${variant}`) : 'off';
}

function contextName(context: Context | undefined): string {
  return contextLine(context ?? {}) || 'no context';
}

interface Column {
  readonly environment: string;
  /** the index of the context; undefined where each row is a context */
  readonly contextIndex: number | undefined;
}

interface CellPosition {
  readonly row: number;
  readonly column: number;
}

/**
 * The cell that has the focus, or gets it by Tab, and the keys that move it. A position that a shorter list of results does not have
 * stands for the first cell.
 */
function useFocusedCell(rowCount: number, columnCount: number, focus: (position: CellPosition) => void) {
  const [focused, setFocused] = useState<CellPosition>({ row: 0, column: 0 });
  const move = (row: number, column: number): void => {
    const next = {
      row: Math.max(0, Math.min(rowCount - 1, row)),
      column: Math.max(0, Math.min(columnCount - 1, column)),
    };
    setFocused(next);
    focus(next);
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { row, column } = focused;
    if (event.key === 'ArrowDown') move(row + 1, column);
    else if (event.key === 'ArrowUp') move(row - 1, column);
    else if (event.key === 'ArrowRight') move(row, column + 1);
    else if (event.key === 'ArrowLeft') move(row, column - 1);
    else if (event.key === 'Home') move(event.ctrlKey ? 0 : row, 0);
    else if (event.key === 'End') move(event.ctrlKey ? rowCount - 1 : row, columnCount - 1);
    else return;
    event.preventDefault();
  };
  const isFocused = (row: number, column: number): boolean =>
    focused.row < rowCount && focused.column < columnCount
      ? focused.row === row && focused.column === column
      : row === 0 && column === 0;
  return { isFocused, setFocused, onKeyDown };
}

interface ResultButtonProps {
  readonly cell: PlaygroundCell;
  readonly target: ResultCell;
  readonly position: CellPosition;
  readonly isInTabOrder: boolean;
  readonly onFocus: () => void;
  readonly onOpen: (cell: ResultCell) => void;
}

function ResultButton({ cell, target, position, isInTabOrder, onFocus, onOpen }: ResultButtonProps) {
  const result = cell.proposed === undefined ? resultOf(cell) : `${resultOf(cell)} → ${resultOf(cell.proposed)}`;
  return (
    <button
      type="button"
      className={styles['cell']}
      data-at={`${position.row} ${position.column}`}
      data-on={cell.isEnabled || undefined}
      data-changed={cell.proposed !== undefined || undefined}
      tabIndex={isInTabOrder ? 0 : -1}
      aria-label={`${target.flag} in ${target.environment} for ${contextName(target.context)}: ${result}`}
      title={contextName(target.context)}
      onFocus={onFocus}
      onClick={() => onOpen(target)}
    >
      {result}
    </button>
  );
}

interface ResultGridProps {
  readonly environments: readonly string[];
  readonly contexts: readonly Context[];
  readonly flags: readonly Flag[];
  /** whether the results are those of an earlier input, while those of the current one are loading or cannot be loaded */
  readonly isOutdated: boolean;
  readonly onOpen: (cell: ResultCell) => void;
  /** called when fewer than ten loaded rows follow those in the document */
  readonly onReachEnd: () => void;
}

/**
 * The results: a row for each flag with a column for each context of each environment, or for a single flag a row for each context.
 * Only the rows on the screen are in the document. Arrow keys move between results, Enter opens the reasons of one.
 */
export function ResultGrid({ environments, contexts, flags, isOutdated, onOpen, onReachEnd }: ResultGridProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const singleFlag = flags.length === 1 ? flags[0] : undefined;
  const rowCount = singleFlag === undefined ? flags.length : contexts.length;
  const allColumns: Column[] = environments.flatMap((environment): Column[] =>
    singleFlag === undefined
      ? contexts.map((_context, contextIndex) => ({ environment, contextIndex }))
      : [{ environment, contextIndex: undefined }],
  );
  const columns = allColumns.slice(0, maxColumns);
  const virtualizer = useVirtualizer({
    count: rowCount,
    getScrollElement: () => scroller.current,
    estimateSize: () => rowHeight,
    overscan: 8,
  });
  const items = virtualizer.getVirtualItems();
  const isAtEnd = rowCount > 0 && (items.at(-1)?.index ?? 0) >= rowCount - 10;
  useEffect(() => {
    if (isAtEnd) onReachEnd();
  }, [isAtEnd, onReachEnd, rowCount]);
  const { isFocused, setFocused, onKeyDown } = useFocusedCell(rowCount, columns.length, ({ row, column }) => {
    virtualizer.scrollToIndex(row, { align: 'auto' });
    const cell = () => scroller.current?.querySelector<HTMLElement>(`[data-at="${row} ${column}"]`);
    // A cell that is far away is drawn in the next frame.
    if (cell() === null) requestAnimationFrame(() => cell()?.focus());
    else cell()?.focus();
  });
  return (
    <>
      {columns.length < allColumns.length && (
        <p className={layout['small']}>
          The table shows {columns.length} of {allColumns.length} columns: narrow contexts or environments.
        </p>
      )}
      <div
        ref={scroller}
        className={`${styles['scroller']} ${isOutdated ? styles['outdated'] : ''}`}
        aria-busy={isOutdated}
        style={{ '--rows': rowCount } as React.CSSProperties}
      >
        {/* The grid handles the keys; the focus is in its cells. */}
        <div
          role="grid"
          tabIndex={-1}
          aria-label="Results"
          aria-rowcount={rowCount + 1}
          aria-colcount={columns.length + 1}
          className={styles['grid']}
          style={{ '--columns': columns.length } as React.CSSProperties}
          onKeyDown={onKeyDown}
        >
          <div role="rowgroup" className={styles['header']}>
            <div role="row" aria-rowindex={1} className={styles['row']}>
              <div role="columnheader" className={styles['name']}>
                {singleFlag === undefined ? 'Flag' : 'Contexts'}
              </div>
              {columns.map(({ environment, contextIndex }, column) => (
                <div role="columnheader" key={column}>
                  <span className={styles['environment']}>
                    <EnvironmentName name={environment} />
                  </span>
                  {contextIndex !== undefined && (
                    <>
                      {' '}
                      <code>{contextName(contexts[contextIndex])}</code>
                    </>
                  )}
                </div>
              ))}
            </div>
          </div>
          <div role="rowgroup" className={styles['body']} style={{ height: virtualizer.getTotalSize() }}>
            {items.map(({ index: row, start }) => {
              const flag = singleFlag ?? flags[row];
              if (flag === undefined) return null;
              return (
                <div
                  role="row"
                  key={row}
                  aria-rowindex={row + 2}
                  className={styles['row']}
                  style={{ transform: `translateY(${start}px)` }}
                >
                  <div role="rowheader" className={styles['name']}>
                    {singleFlag === undefined ? (
                      <Link
                        to="/projects/$project/features/$feature"
                        params={{ project: flag.projectId, feature: flag.name }}
                        preload={false}
                        title={`${flag.name} (${flag.projectId})`}
                      >
                        <bdi>{flag.name}</bdi>
                      </Link>
                    ) : (
                      <code title={contextName(contexts[row])}>{contextName(contexts[row])}</code>
                    )}
                  </div>
                  {columns.map(({ environment, contextIndex = row }, column) => {
                    const cell = flag.environments[environment]?.[contextIndex];
                    const context = contexts[contextIndex] ?? {};
                    return (
                      <div role="gridcell" key={column}>
                        {cell !== undefined && (
                          <ResultButton
                            cell={cell}
                            target={{ flag: flag.name, project: flag.projectId, environment, context }}
                            position={{ row, column }}
                            isInTabOrder={isFocused(row, column)}
                            onFocus={() => setFocused({ row, column })}
                            onOpen={onOpen}
                          />
                        )}
                      </div>
                    );
                  })}
                </div>
              );
            })}
          </div>
        </div>
        {rowCount === 0 && <p className="visually-hidden">Nothing matches.</p>}
      </div>
    </>
  );
}
