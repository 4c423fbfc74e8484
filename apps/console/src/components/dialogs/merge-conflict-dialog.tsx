import { lazy, Suspense } from 'react';
import type { MergeConflictDialogProps } from './merge-conflict-dialog-implementation.tsx';

const Loaded = lazy(() =>
  import('./merge-conflict-dialog-implementation.tsx').then(({ MergeConflictDialogImplementation: dialog }) => ({
    default: dialog,
  })),
);

/** Lets the user choose between the values of two edits of the same fields. It is loaded when it is first opened. */
export function MergeConflictDialog(props: MergeConflictDialogProps) {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}
