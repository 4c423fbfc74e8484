import styles from './content.module.css';
import { ErrorNotice } from './notice.tsx';

interface EmptyProps {
  readonly title: string;
  readonly children?: React.ReactNode;
  readonly action?: React.ReactNode;
}

/** The content of an empty list: what would be listed, and how it is created. */
export function EmptyState({ title, children, action }: EmptyProps) {
  return (
    <div className={styles['empty']}>
      <h2>{title}</h2>
      {children !== undefined && <p>{children}</p>}
      {action}
    </div>
  );
}

/** The text while something is loaded. It appears after half a second, so that it does not flash where loading is faster. */
export function Loading() {
  return (
    <p role="status" className={styles['loading']}>
      Loading…
    </p>
  );
}

interface QueryResultProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly children: (data: T) => React.ReactNode;
}

/** The data of a query, or its error with a retry. Cached data stays visible while the query runs again. */
export function QueryResult<T>({ query, children }: QueryResultProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error != null) return <ErrorNotice error={query.error} retry={() => void query.refetch()} />;
  return <Loading />;
}
