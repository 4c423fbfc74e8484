import { ApiError } from '../../api/api-error.ts';
import { explainError } from '../../messages/explain-error.ts';
import { sharedMessages } from '../../messages/shared.ts';
import { Button } from '../buttons/button.tsx';
import { Icon } from '../buttons/icon.tsx';
import table from './table.module.css';
import styles from './content.module.css';

type Tone = 'neutral' | 'good' | 'warning' | 'danger' | 'accent';

const toneClass = (tone: Tone): string => (tone === 'neutral' ? '' : (styles[tone] ?? ''));

export const Badge = ({ tone = 'neutral', children }: { readonly tone?: Tone; readonly children: React.ReactNode }) => (
  <span className={`${styles['badge']} ${toneClass(tone)}`}>{children}</span>
);

interface NoticeProps {
  readonly tone?: 'neutral' | 'warning' | 'danger';
  readonly children: React.ReactNode;
  readonly actions?: React.ReactNode;
}

/** A sentence that the reader must not miss. A dangerous one is announced. */
export const Notice = ({ tone = 'neutral', children, actions }: NoticeProps) => (
  <div role={tone === 'danger' ? 'alert' : undefined} className={`${styles['notice']} ${toneClass(tone)}`}>
    <Icon name={tone === 'neutral' ? 'info' : 'warning'} />
    <div className={styles['noticeBody']}>
      <div>{children}</div>
      {actions}
    </div>
  </div>
);

/** What failed, in the server's words, and what to do now. */
export const ErrorNotice = ({ error, retry }: { readonly error: unknown; readonly retry?: () => void }) => (
  <Notice
    tone="danger"
    actions={
      retry !== undefined && (
        <Button size="small" onPress={retry}>
          {sharedMessages.common.tryAgain}
        </Button>
      )
    }
  >
    {explainError(error)}
    {error instanceof ApiError && error.details.length > 1 && (
      <ul>
        {error.details.map(({ message, path }, index) => (
          <li key={index}>{path === undefined ? message : `${path.replace(/^\/\w+\//, '')}: ${message}`}</li>
        ))}
      </ul>
    )}
  </Notice>
);

interface EmptyProps {
  readonly title: string;
  readonly children?: React.ReactNode;
  readonly action?: React.ReactNode;
}

/** The content of an empty list: what would be listed, and how it is created. */
export const EmptyState = ({ title, children, action }: EmptyProps) => (
  <div className={styles['empty']}>
    <h2>{title}</h2>
    {children !== undefined && <p>{children}</p>}
    {action}
  </div>
);

/** Appears after half a second: what is faster needs no word. */
export const Loading = () => (
  <p role="status" className={styles['loading']}>
    {sharedMessages.common.loading}
  </p>
);

interface QueryResultProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly children: (data: T) => React.ReactNode;
}

/** The data of a query, or its error with a retry. Cached data stays visible while the query runs again. */
export const QueryResult = <T,>({ query, children }: QueryResultProps<T>) => {
  if (query.data !== undefined) return children(query.data);
  if (query.error != null) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  return <Loading />;
};

interface Column<T> {
  readonly id: string;
  readonly title: string;
  readonly cell: (row: T) => React.ReactNode;
}

interface TableProps<T> {
  readonly label: string;
  readonly columns: readonly Column<T>[];
  readonly rows: readonly T[];
  readonly rowKey: (row: T) => string | number;
}

/** A table of at most some hundred rows; the first column names the row. On narrow screens a row is a card. */
export const Table = <T,>({ label, columns, rows, rowKey }: TableProps<T>) => (
  // A region that scrolls must be reachable by keyboard.
  <div className={styles['tableHolder']} role="region" aria-label={label} tabIndex={0}>
    <table className={`${table['table']} ${styles['table']}`}>
      <thead>
        <tr>
          {columns.map(({ id, title }) => (
            <th key={id} scope="col">
              {title}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {rows.map((row) => (
          <tr key={rowKey(row)}>
            {columns.map(({ id, title, cell }) => (
              <td key={id} data-title={title}>
                <div>{cell(row)}</div>
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
);
