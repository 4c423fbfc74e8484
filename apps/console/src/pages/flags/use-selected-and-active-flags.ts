import type { SearchResultFeature } from '@bunting/contracts';
import { useCallback, useEffect, useRef, useState } from 'react';
import type { SearchQuery } from './flag-filter.ts';
import { emptySelection, type FlagSelection, isSelected, withSelected } from './flag-selection.ts';

interface SelectedAndActiveFlagsOptions {
  readonly query: SearchQuery;
  /** the number of flags that the query finds */
  readonly total: number;
  readonly rowAt: (row: number) => SearchResultFeature | undefined;
}

/** The selected flags of the list, and the active row, on which shortcuts act. Another query finds other flags and resets both. */
export const useSelectedAndActiveFlags = ({ query, total, rowAt }: SelectedAndActiveFlagsOptions) => {
  const [selection, setSelection] = useState<FlagSelection>(emptySelection);
  /** -1 before a row is chosen */
  const [activeRow, setActiveRow] = useState(-1);
  /** the row of the last selection, where a range begins; -1 before the first */
  const anchor = useRef(-1);
  const [lastQuery, setLastQuery] = useState(query);
  if (lastQuery !== query) {
    setLastQuery(query);
    setSelection(emptySelection);
    setActiveRow(-1);
  }
  useEffect(() => {
    anchor.current = -1;
  }, [query]);

  /** Selects or deselects the flag of a row or, for a range, of all rows from the anchor on. */
  const select = useCallback(
    (row: number, name: string, isRange: boolean) => {
      const from = isRange && anchor.current >= 0 ? anchor.current : row;
      const [low, high] = [Math.min(from, row), Math.max(from, row)];
      const names = Array.from({ length: high - low + 1 }, (_, index) => rowAt(low + index)?.name).filter(
        (rowName) => rowName !== undefined,
      );
      anchor.current = row;
      setActiveRow(row);
      setSelection((before) => withSelected(before, names, !isSelected(before, name)));
    },
    [rowAt],
  );
  const moveActiveRow = (step: number): void => {
    if (total > 0) setActiveRow((row) => Math.max(0, Math.min(total - 1, row + step)));
  };
  const activeFlag = activeRow < 0 ? undefined : rowAt(activeRow);
  return { selection, setSelection, activeRow, activeFlag, select, moveActiveRow };
};
