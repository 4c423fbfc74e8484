import type { AnyOperation } from '@bunting/contracts';
import { lazy, Suspense } from 'react';
import type { ActionDialogProps } from './action-dialog-loaded.tsx';

const Loaded = lazy(() =>
  import('./action-dialog-loaded.tsx').then(({ ActionDialog: dialog }) => ({ default: dialog })),
);

/** Runs an operation on one thing after a question that names it. A refusal is shown in the dialog. It is loaded when it is first opened. */
export const ActionDialog = <O extends AnyOperation>(props: ActionDialogProps<O>) => (
  <Suspense>
    <Loaded {...(props as unknown as ActionDialogProps<AnyOperation>)} />
  </Suspense>
);
