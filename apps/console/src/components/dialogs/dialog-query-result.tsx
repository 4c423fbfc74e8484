import { ErrorNotice } from '../content/notice.tsx';
import { Dialog } from './dialog.tsx';

interface DialogQueryResultProps<T> {
  /** the title of the dialog, also of the one that shows the error */
  readonly title: string;
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly onClose: () => void;
  /** the dialog */
  readonly children: (data: T) => React.ReactNode;
}

/** A dialog that needs the data of a query. While the query has failed, it shows the error and a retry instead. */
export const DialogQueryResult = <T,>({ title, query, onClose, children }: DialogQueryResultProps<T>) => {
  if (query.data !== undefined) return children(query.data);
  if (query.error == null) return null;
  return (
    <Dialog title={title} onClose={onClose}>
      <ErrorNotice error={query.error} retry={() => void query.refetch()} />
    </Dialog>
  );
};
