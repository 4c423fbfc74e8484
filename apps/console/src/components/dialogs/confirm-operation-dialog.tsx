import type { AnyOperation } from '@bunting/contracts';
import { Suspense } from 'react';
import type { ConfirmOperationDialogProps } from './confirm-operation-dialog-implementation.tsx';
import { lazyPart } from '../content/lazy-part.tsx';

const Loaded = lazyPart(() =>
  import('./confirm-operation-dialog-implementation.tsx').then(
    ({ ConfirmOperationDialogImplementation: dialog }) => dialog,
  ),
);

/** Runs an operation on one thing after a question that names it. A refusal is shown in the dialog. It is loaded when it is first opened. */
export function ConfirmOperationDialog<O extends AnyOperation>(props: ConfirmOperationDialogProps<O>) {
  return (
    <Suspense>
      <Loaded {...(props as unknown as ConfirmOperationDialogProps<AnyOperation>)} />
    </Suspense>
  );
}
