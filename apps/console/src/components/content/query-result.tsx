import { ApiError } from '../../api/api-error.ts';
import { Page } from '../layout/page.tsx';
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

interface PageErrorProps {
  readonly error: unknown;
  /** what the page shows, as in `change request` */
  readonly page: string;
  readonly notFound: string | undefined;
  readonly retry: () => void;
}

/** The page in place of one whose subject could not be loaded. */
function PageError({ error, page, notFound, retry }: PageErrorProps) {
  if (error instanceof ApiError && error.kind === 'NotFoundError')
    return (
      <Page title={`There is no such ${page}`}>
        <p>{notFound ?? 'It may have been deleted, or the address is mistyped.'}</p>
      </Page>
    );
  return (
    <Page title={`The ${page} cannot be shown`}>
      <ErrorNotice error={error} retry={retry} />
    </Page>
  );
}

interface QueryResultProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly children: (data: T) => React.ReactNode;
  /** what the page shows, where the result is the whole page: an error is then a page with a heading */
  readonly page?: string;
  /** why there may be no such thing */
  readonly notFound?: string;
}

/** The data of a query, or its error with a retry. Cached data stays visible while the query runs again. */
export function QueryResult<T>({ query, children, page, notFound }: QueryResultProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error != null) {
    const failure = { error: query.error, retry: () => void query.refetch() };
    return page === undefined ? (
      <ErrorNotice {...failure} />
    ) : (
      <PageError {...failure} page={page} notFound={notFound} />
    );
  }
  return <Loading />;
}
