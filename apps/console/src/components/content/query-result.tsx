import { ApiError } from '../../api/api-error.ts';
import { missingPermission } from '../../text/permission-words.ts';
import { useKeptPage } from '../dialogs/unfinished-forms.tsx';
import { Page } from '../layout/page.tsx';
import styles from './content.module.css';
import { ErrorNotice, Notice } from './notice.tsx';

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
      {action && <div className={styles['emptyActions']}>{action}</div>}
    </div>
  );
}

/** Grey lines while something is loaded. They appear after half a second, so that they do not flash where loading is faster. */
export function Loading() {
  return (
    <div role="status" className={styles['loading']} data-loading>
      <span className="visually-hidden">Loading…</span>
    </div>
  );
}

interface PageErrorProps {
  readonly error: unknown;
  /** what the page shows, as in `change request` */
  readonly page: string;
  readonly crumbs: readonly React.ReactNode[];
  readonly notFound: string | undefined;
  /** whether it was shown before */
  readonly wasShown: boolean;
  readonly retry: () => void;
}

/** Whether there is nothing at the address: it names what does not exist, or what nothing can be called, such as `abc` for an id. */
function isNotFound(error: unknown): boolean {
  if (!(error instanceof ApiError)) return false;
  const { kind, details } = error;
  if (kind === 'ValidationError') return details.some(({ path }) => path?.startsWith('/params/') === true);
  return kind === 'NotFoundError';
}

/** Whether it is what the user may not read, and no repetition helps. */
export function isDenied(error: unknown): error is ApiError {
  return error instanceof ApiError && error.kind === 'NoAccessError' && error.permissions.length > 0;
}

/** The page in place of one whose subject could not be loaded. */
function PageError({ error, page, crumbs, notFound, wasShown, retry }: PageErrorProps) {
  if (isNotFound(error))
    return (
      <Page title={wasShown ? `This ${page} is gone` : `There is no such ${page}`} crumbs={crumbs}>
        <p>
          {wasShown
            ? 'It was deleted while you looked at it, or is hidden from you now.'
            : (notFound ?? 'It may have been deleted, or the address is mistyped.')}
        </p>
      </Page>
    );
  return (
    <Page title={`The ${page} cannot be shown`} crumbs={crumbs}>
      <ErrorNotice error={error} retry={retry} />
    </Page>
  );
}

interface QueryResultProps<T> {
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly children: (data: T) => React.ReactNode;
  /** what the page shows, where the result is the whole page: an error is then a page with a heading */
  readonly page?: string;
  /** links to the pages above that page, as of `Page`: they lead on from one that does not exist */
  readonly crumbs?: readonly React.ReactNode[];
  /** what is shown below a heading that the page has already, as in `application` */
  readonly part?: string;
  /** why there may be no such thing */
  readonly notFound?: string;
  /** whether a person edits it: what was typed stays also when the subject was deleted meanwhile */
  readonly isForm?: boolean;
}

/**
 * The data of a query, or its error with a retry. Cached data stays visible while the query runs again, and when that fails, unless the
 * subject of a page that is not a form, and of which no form is being filled in, does not exist any more.
 */
export function QueryResult<T>({
  query,
  children,
  page,
  crumbs = [],
  part,
  notFound,
  isForm = false,
}: QueryResultProps<T>) {
  const wasShown = query.data !== undefined;
  const isGone = page !== undefined && isNotFound(query.error);
  const isKept = useKeptPage(isGone && wasShown, page ?? '');
  if (query.data !== undefined && (!isGone || isForm || isKept)) return children(query.data);
  if (query.error != null) {
    if (page === undefined && isDenied(query.error))
      return <Notice>{`You may not see this: that takes ${missingPermission(query.error.permissions)}.`}</Notice>;
    if (part !== undefined && isNotFound(query.error))
      return <EmptyState title={`There is no such ${part}`}>{notFound}</EmptyState>;
    const failure = { error: query.error, retry: () => void query.refetch() };
    return page === undefined ? (
      <ErrorNotice {...failure} />
    ) : (
      <PageError {...failure} page={page} crumbs={crumbs} notFound={notFound} wasShown={wasShown} />
    );
  }
  return <Loading />;
}
