import { Suspense } from 'react';
import type { MergeConflictDialogProps } from './merge-conflict-dialog-implementation.tsx';
import { lazyPart } from '../content/lazy-part.tsx';

const Loaded = lazyPart(() =>
  import('./merge-conflict-dialog-implementation.tsx').then(({ MergeConflictDialogImplementation: dialog }) => dialog),
);

/** Lets the user choose between the values of two edits of the same fields. It is loaded when it is first opened. */
export function MergeConflictDialog(props: MergeConflictDialogProps) {
  return (
    <Suspense>
      <Loaded {...props} />
    </Suspense>
  );
}
