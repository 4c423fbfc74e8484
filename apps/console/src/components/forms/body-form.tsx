import type { AnyOperation } from '@bunting/contracts';
import { lazy, Suspense } from 'react';
import type { BodyFormProps, FormDialogProps } from './body-form-loaded.tsx';
import { Loading } from '../content/content.tsx';

export type { BodyField } from './body-form-loaded.tsx';

// Fields, lists and validation are a third of the size that a page may have: they are loaded when a form is opened.
const LoadedDialog = lazy(() => import('./body-form-loaded.tsx').then(({ FormDialog: form }) => ({ default: form })));
const LoadedForm = lazy(() => import('./body-form-loaded.tsx').then(({ BodyForm: form }) => ({ default: form })));

/** A dialog that enters the body of an operation, and closes when it has succeeded. */
export const FormDialog = <O extends AnyOperation>(props: FormDialogProps<O>) => (
  <Suspense>
    <LoadedDialog {...(props as unknown as FormDialogProps<AnyOperation>)} />
  </Suspense>
);

/** A form on a page for the body of an operation. Leaving it with unsaved edits needs a confirmation. */
export const BodyForm = <O extends AnyOperation>(props: BodyFormProps<O>) => (
  <Suspense fallback={<Loading />}>
    <LoadedForm {...(props as unknown as BodyFormProps<AnyOperation>)} />
  </Suspense>
);
