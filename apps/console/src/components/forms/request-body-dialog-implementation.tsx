import type { AnyOperation } from '@bunting/contracts';
import { FormDialog } from '../dialogs/dialog.tsx';
import { Fields, type RequestBodyFormOptions, useRequestBodyForm } from './request-body-form-implementation.tsx';

export type RequestBodyDialogProps<O extends AnyOperation> = RequestBodyFormOptions<O> & {
  readonly title: string;
  readonly submit: string;
  /** shown above the fields, such as what the edit affects */
  readonly intro?: React.ReactNode;
  readonly isWide?: boolean;
  readonly onClose: () => void;
};

/** A dialog that enters the body of an operation, and closes when it has succeeded. */
export function RequestBodyDialogImplementation<O extends AnyOperation>({
  title,
  submit,
  intro,
  isWide = false,
  onClose,
  ...options
}: RequestBodyDialogProps<O>) {
  const form = useRequestBodyForm({
    ...options,
    onDone: (body, reply) => {
      onClose();
      options.onDone?.(body, reply);
    },
  });
  return (
    <FormDialog
      title={title}
      onClose={onClose}
      isWide={isWide}
      onSubmit={form.submit}
      submit={submit}
      isPending={form.formState.isSubmitting}
    >
      {intro}
      <Fields
        operation={options.operation}
        fields={options.fields}
        {...(options.renderBody && { renderBody: options.renderBody })}
        form={form}
        focusesFirst
      />
    </FormDialog>
  );
}
