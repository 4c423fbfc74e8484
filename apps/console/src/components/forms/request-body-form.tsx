import type { AnyOperation } from '@bunting/contracts';
import { Suspense } from 'react';
import type { RequestBodyDialogProps } from './request-body-dialog-implementation.tsx';
import type { RequestBodyFormProps } from './request-body-form-implementation.tsx';
import { Loading } from '../content/query-result.tsx';
import { lazyPart } from '../content/lazy-part.tsx';

export type { RequestBodyDialogProps } from './request-body-dialog-implementation.tsx';
export type { FormSection, RequestBodyField } from './request-body-form-implementation.tsx';

// Inputs, lists and validation take a third of the size that a page may have, so they are loaded when a form is first opened.
const LoadedDialog = lazyPart(() =>
  import('./request-body-dialog-implementation.tsx').then(({ RequestBodyDialogImplementation: form }) => form),
);
const LoadedForm = lazyPart(() =>
  import('./request-body-form-implementation.tsx').then(({ RequestBodyFormImplementation: form }) => form),
);

/** A dialog that enters the body of an operation, and closes when it has succeeded. */
export function RequestBodyDialog<O extends AnyOperation>(props: RequestBodyDialogProps<O>) {
  return (
    <Suspense>
      <LoadedDialog {...(props as unknown as RequestBodyDialogProps<AnyOperation>)} />
    </Suspense>
  );
}

/** A form on a page for the body of an operation. Leaving the page with unsaved edits needs a confirmation. */
export function RequestBodyForm<O extends AnyOperation>(props: RequestBodyFormProps<O>) {
  return (
    <Suspense fallback={<Loading />}>
      <LoadedForm {...(props as unknown as RequestBodyFormProps<AnyOperation>)} />
    </Suspense>
  );
}
