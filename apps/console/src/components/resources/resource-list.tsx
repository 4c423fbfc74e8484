import { useState } from 'react';
import { Icon } from '../content/icon.tsx';
import { Button, IconButton } from '../buttons/button.tsx';
import { QueryResult, EmptyState } from '../content/query-result.tsx';
import type { Column } from '../content/table.tsx';
import { TextField } from '../forms/fields.tsx';
import { Menu, type MenuEntry } from '../buttons/menu.tsx';
import { type SearchParameters, useSearchParameter } from '../../filtering/search-parameter.ts';
import table from '../content/table.module.css';
import styles from './resource.module.css';
import { formatCount, formatNumber } from '../../text/format-number.ts';

/** By what a column sorts the rows; undefined where it says nothing, which stands last. */
type SortKey = string | number | undefined;

interface ResourceColumn<T> extends Omit<Column<T>, 'isTitleHidden'> {
  /** Where it is given, a press on the title sorts by it. The order is in the search parameter `sort` of the URL. */
  readonly sortBy?: (row: T) => SortKey;
}

const { compare } = new Intl.Collator(undefined, { numeric: true });

/** Numbers begin with the highest, texts with the first. */
function compareKeys(one: SortKey, other: SortKey): number {
  if (one === undefined || other === undefined) return Number(one === undefined) - Number(other === undefined);
  return typeof one === 'number' && typeof other === 'number' ? other - one : compare(String(one), String(other));
}

/** The rows by a column whose title the parameter has, which reverses them with ` reversed`; as they are without one. */
function inOrder<T>(rows: readonly T[], columns: readonly ResourceColumn<T>[], sort: string | undefined): readonly T[] {
  const [title, isReversed] = [sort?.replace(/ reversed$/, ''), sort?.endsWith(' reversed') === true];
  const sortBy = columns.find((column) => column.title === title)?.sortBy;
  if (sortBy === undefined) return rows;
  const hasKey = (row: T): boolean => sortBy(row) !== undefined;
  const sorted = rows.filter(hasKey).toSorted((one, other) => compareKeys(sortBy(one), sortBy(other)));
  return [...(isReversed ? sorted.toReversed() : sorted), ...rows.filter((row) => !hasKey(row))];
}

export interface ResourceListProps<T> {
  /** names the list: `Segments` */
  readonly label: string;
  readonly query: { readonly data: readonly T[] | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly rowKey: (row: T) => string | number;
  /** the name of the thing in a row */
  readonly name: (row: T) => string;
  /** further text of a row in which the search looks, beside its name */
  readonly text?: (row: T) => string;
  /** The first column names the row. */
  readonly columns: readonly ResourceColumn<T>[];
  /** the entries of the menu at the end of a row; a row without entries has no menu */
  readonly actions?: (row: T) => readonly MenuEntry[];
  /** shown instead of an empty list: what would be listed, and how it is created */
  readonly empty: { readonly title: string; readonly help: string; readonly action?: React.ReactNode };
  /** further filters, beside the search */
  readonly filter?: React.ReactNode;
  /** the button that creates a thing, where the head of the page has none */
  readonly create?: React.ReactNode;
  /** renders what stands above the list, such as an action for all rows that the search has found */
  readonly renderAbove?: (rows: readonly T[]) => React.ReactNode;
  /** the search parameter of the URL that holds the text of the search; a page with two lists needs two of them */
  readonly parameter?: keyof SearchParameters;
}

/** The number of rows that are shown at first, and that each “show more” adds. */
const pageSize = 200;
/** A list has a search field from this number of rows. */
const minRowsForSearch = 10;

/** A label within a sentence: `Segments` in lower case, `API tokens` as it is. */
function lowerFirst(label: string): string {
  return /^\p{Lu}{2}/u.test(label) ? label : label.charAt(0).toLowerCase() + label.slice(1);
}

/** A list of things with a search (kept in the URL), a menu for each row, and an empty state. On narrow screens a row is a card. */
export function ResourceList<T>({
  label,
  query,
  rowKey,
  name,
  text: textOf = () => '',
  columns,
  actions,
  empty,
  filter,
  create,
  renderAbove,
  parameter = 'q',
}: ResourceListProps<T>) {
  const [search = '', setSearch] = useSearchParameter(parameter);
  const [sort, setSort] = useSearchParameter('sort');
  const [max, setMax] = useState(pageSize);
  const words = search.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (row: T): boolean => {
    const searchedText = `${name(row)} ${textOf(row)}`.toLowerCase();
    return words.every((word) => searchedText.includes(word));
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
        const found = inOrder(rows.filter(matches), columns, sort);
        const hasSearch = rows.length >= minRowsForSearch || search !== '';
        return (
          <div className={styles['list']}>
            {renderAbove?.(found)}
            {(hasSearch || filter !== undefined || create) && (
              <div className={styles['search']}>
                {hasSearch && (
                  <TextField
                    label={`Search in ${lowerFirst(label)}`}
                    value={search}
                    onChange={(value) => {
                      setSearch(value === '' ? undefined : value);
                      setMax(pageSize);
                    }}
                    placeholder="Search"
                    autoComplete="off"
                  />
                )}
                {filter}
                {(hasSearch || filter !== undefined) && (
                  <span role="status" className={styles['hint']}>
                    {found.length === rows.length
                      ? `${formatNumber(rows.length)} in all`
                      : `${formatNumber(found.length)} of ${formatNumber(rows.length)}`}
                  </span>
                )}
                {create && <div className={styles['create']}>{create}</div>}
              </div>
            )}
            {found.length === 0 ? (
              <EmptyState
                title={rows.length === 0 ? empty.title : 'Nothing matches the search'}
                action={
                  rows.length === 0 ? empty.action : <Button onPress={() => setSearch(undefined)}>Show all</Button>
                }
              >
                {rows.length === 0 ? empty.help : 'Try fewer letters, or look through all of them.'}
              </EmptyState>
            ) : (
              <table className={`${table['table']} ${styles['table']}`} aria-label={label}>
                <thead>
                  <tr>
                    {columns.map(({ title, isNumber = false, sortBy }) => {
                      if (sortBy === undefined) {
                        return (
                          <th key={title} scope="col" data-number={isNumber || undefined}>
                            {title}
                          </th>
                        );
                      }
                      const [isSorted, isReversed] = [sort === title, sort === `${title} reversed`];
                      // Numbers go down at first, and texts up.
                      const isUp = isReversed === found.some((row) => typeof sortBy(row) === 'number');
                      const order = isSorted || isReversed ? (isUp ? 'ascending' : 'descending') : 'none';
                      return (
                        <th key={title} scope="col" data-number={isNumber || undefined} aria-sort={order}>
                          <button
                            type="button"
                            className={styles['sort']}
                            onClick={() => setSort(isSorted ? `${title} reversed` : isReversed ? undefined : title)}
                          >
                            {title}
                            {order !== 'none' && <Icon name={isUp ? 'arrowUp' : 'arrowDown'} />}
                          </button>
                        </th>
                      );
                    })}
                    {actions !== undefined && (
                      <th scope="col">
                        <span className="visually-hidden">Actions for {lowerFirst(label)}</span>
                      </th>
                    )}
                  </tr>
                </thead>
                <tbody>
                  {found.slice(0, max).map((row) => {
                    const entries = actions?.(row) ?? [];
                    return (
                      <tr key={rowKey(row)}>
                        {columns.map(({ title, cell, isNumber = false }, index) =>
                          index === 0 ? (
                            <th key={title} scope="row">
                              {cell(row)}
                            </th>
                          ) : (
                            <td key={title} data-title={title} data-number={isNumber || undefined}>
                              <div>{cell(row)}</div>
                            </td>
                          ),
                        )}
                        {actions !== undefined && (
                          <td className={styles['menu']}>
                            {entries.length > 0 && (
                              <Menu label={`Actions for ${name(row)}`} entries={entries}>
                                <IconButton icon="more" label={`Actions for ${name(row)}`} />
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
              <Button onPress={() => setMax(max + pageSize)}>
                Show {formatCount(Math.min(pageSize, found.length - max), 'more row')}
              </Button>
            )}
          </div>
        );
      }}
    </QueryResult>
  );
}
