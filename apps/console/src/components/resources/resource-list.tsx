import { useState } from 'react';
import { resourceMessages as text } from '../../messages/resources.ts';
import { Button, IconButton } from '../buttons/button.tsx';
import { QueryResult, EmptyState } from '../content/query-result.tsx';
import { TextField } from '../forms/fields.tsx';
import { Menu, type MenuEntry } from '../buttons/menu.tsx';
import { type SearchParameters, useSearchParameter } from '../../filtering/search-parameter.ts';
import table from '../content/table.module.css';
import styles from './resource.module.css';

interface ResourceColumn<T> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: T) => React.ReactNode;
  /** digits, which stand at the end of the cell */
  readonly isNumber?: boolean;
}

interface ResourceListProps<T> {
  /** names the list: `Segments` */
  readonly label: string;
  readonly query: { readonly data: readonly T[] | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly rowKey: (row: T) => string | number;
  /** what the row is called */
  readonly name: (row: T) => string;
  /** what the search looks through, beside the name */
  readonly text?: (row: T) => string;
  /** The first column names the row. */
  readonly columns: readonly ResourceColumn<T>[];
  /** what the menu at the end of a row offers; no menu where nothing may be done */
  readonly actions?: (row: T) => readonly MenuEntry[];
  /** what would be here and how it gets here */
  readonly empty: { readonly title: string; readonly help: string; readonly action?: React.ReactNode };
  /** beside the search */
  readonly filter?: React.ReactNode;
  /** above the list, for all rows that the search has found */
  readonly forFound?: (rows: readonly T[]) => React.ReactNode;
  /** the search parameter that holds the search; another one where a page has two lists */
  readonly parameter?: keyof SearchParameters;
}

const page = 200;
/** The number of rows from which a list has a search. */
const searchable = 10;

/** A list of things with a search that stands in the address, a menu for each, and an empty state. On narrow screens a row is a card. */
export const ResourceList = <T,>({
  label,
  query,
  rowKey,
  name,
  text: textOf = () => '',
  columns,
  actions,
  empty,
  filter,
  forFound,
  parameter = 'q',
}: ResourceListProps<T>) => {
  const [search = '', setSearch] = useSearchParameter(parameter);
  const [max, setMax] = useState(page);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (row: T): boolean => {
    const looked = `${name(row)} ${textOf(row)}`.toLowerCase();
    return words.every((word) => looked.includes(word));
  };
  return (
    <QueryResult query={query}>
      {(rows) => {
        if (rows.length === 0 && filter === undefined) {
          return (
            <EmptyState title={empty.title} action={empty.action}>
              {empty.help}
            </EmptyState>
          );
        }
        const found = rows.filter(matches);
        return (
          <div className={styles['list']}>
            {forFound?.(found)}
            {(rows.length >= searchable || search !== '' || filter !== undefined) && (
              <div className={styles['search']}>
                {(rows.length >= searchable || search !== '') && (
                  <TextField
                    label={text.searchIn(label)}
                    value={search}
                    onChange={(value) => {
                      setSearch(value === '' ? undefined : value);
                      setMax(page);
                    }}
                    placeholder={text.search}
                    autoComplete="off"
                  />
                )}
                {filter}
                <span role="status" className={styles['hint']}>
                  {text.found(found.length, rows.length)}
                </span>
              </div>
            )}
            {found.length === 0 ? (
              <EmptyState
                title={rows.length === 0 ? empty.title : text.noMatch}
                action={
                  rows.length === 0 ? (
                    empty.action
                  ) : (
                    <Button onPress={() => setSearch(undefined)}>{text.clearSearch}</Button>
                  )
                }
              >
                {rows.length === 0 ? empty.help : text.noMatchHelp}
              </EmptyState>
            ) : (
              <table className={`${table['table']} ${styles['table']}`} aria-label={label}>
                <thead>
                  <tr>
                    {columns.map(({ id, title, isNumber = false }) => (
                      <th key={id} scope="col" data-number={isNumber || undefined}>
                        {title}
                      </th>
                    ))}
                    {actions !== undefined && (
                      <th scope="col">
                        <span className="visually-hidden">{text.actionsFor(label.toLowerCase())}</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {found.slice(0, max).map((row) => {
                    const entries = actions?.(row) ?? [];
                    return (
                      <tr key={rowKey(row)}>
                        {columns.map(({ id, title, cell, isNumber = false }, index) =>
                          index === 0 ? (
                            <th key={id} scope="row">
                              {cell(row)}
                            </th>
                          ) : (
                            <td key={id} data-title={title} data-number={isNumber || undefined}>
                              <div>{cell(row)}</div>
                            </td>
                          ),
                        )}
                        {actions !== undefined && (
                          <td className={styles['menu']}>
                            {entries.length > 0 && (
                              <Menu label={text.actionsFor(name(row))} entries={entries}>
                                <IconButton icon="more" label={text.actionsFor(name(row))} />
                              </Menu>
                            )}
                          </td>
                        )}
                      </tr>
                    );
                  })}
                </tbody>
              </table>
            )}
            {found.length > max && (
              <Button onPress={() => setMax(max + page)}>{text.showMore(Math.min(page, found.length - max))}</Button>
            )}
          </div>
        );
      }}
    </QueryResult>
  );
};
