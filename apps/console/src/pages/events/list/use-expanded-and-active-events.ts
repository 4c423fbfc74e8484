import { useState } from 'react';
import type { EventQuery } from '../event-filter.ts';

interface ExpandedAndActiveEventsOptions {
  readonly query: EventQuery;
  readonly rows: number;
  readonly total: number;
}

/**
 * The events of the list whose details are open, and the active row, on which shortcuts act. Another query finds other events and resets
 * both. The list of a link to one event shows its details.
 */
export const useExpandedAndActiveEvents = ({ query, rows, total }: ExpandedAndActiveEventsOptions) => {
  const [toggledIds, setToggledIds] = useState<ReadonlySet<number>>(new Set());
  /** -1 before a row is chosen */
  const [activeRow, setActiveRow] = useState(-1);
  const [lastQuery, setLastQuery] = useState(query);
  if (lastQuery !== query) {
    setLastQuery(query);
    setActiveRow(-1);
    setToggledIds(new Set());
  }
  const isOpenByDefault = query.id !== undefined && total === 1;
  const isOpen = (id: number): boolean => toggledIds.has(id) !== isOpenByDefault;
  const toggle = (row: number, id: number): void => {
    setActiveRow(row);
    setToggledIds((before) =>
      before.has(id) ? new Set([...before].filter((toggledId) => toggledId !== id)) : new Set([...before, id]),
    );
  };
  const moveActiveRow = (step: number): void => {
    if (rows > 0) setActiveRow((row) => Math.max(0, Math.min(rows - 1, row + step)));
  };
  return { activeRow, moveActiveRow, isOpen, toggle };
};
