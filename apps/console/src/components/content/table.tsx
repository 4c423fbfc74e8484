import table from './table.module.css';
import styles from './content.module.css';

export interface Column<T> {
  /** unlike those of the other columns */
  readonly title: string;
  /** for a column of buttons, which say what they do: the title is read, and not seen */
  readonly isTitleHidden?: boolean;
  /** whether the cells are numbers, which are aligned at their last digit */
  readonly isNumber?: boolean;
  readonly cell: (row: T) => React.ReactNode;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
}

/** A table of at most some hundred rows; the first column names the row. On narrow screens a row is a card. */
export function Table<T>({ label, columns, rows, rowKey }: TableProps<T>) {
  return (
    // A region that scrolls must be reachable by keyboard.
    <div className={styles['tableHolder']} role="region" aria-label={label} tabIndex={0}>
      <table className={`${table['table']} ${styles['table']}`}>
        <thead>
          <tr>
            {columns.map(({ title, isTitleHidden = false, isNumber = false }) => (
              <th key={title} scope="col" data-number={isNumber || undefined}>
                {isTitleHidden ? <span className="visually-hidden">{title}</span> : title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={rowKey(row)}>
              {columns.map(({ title, isTitleHidden = false, isNumber = false, cell }) => (
                <td key={title} data-title={isTitleHidden ? undefined : title} data-number={isNumber || undefined}>
                  <div>{cell(row)}</div>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
