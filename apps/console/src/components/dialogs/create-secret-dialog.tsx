import type { AnyOperation, ReplyOf } from '@bunting/contracts';
import { useState } from 'react';
import { type Control, useForm } from 'react-hook-form';
import type { CallRequest } from '../../api/call.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../buttons/button.tsx';
import { Notice } from '../content/notice.tsx';
import { Dialog, FormDialog } from './dialog.tsx';
import { showServerError } from '../forms/form-values.ts';
import { CopyableSecret } from '../content/copyable-secret.tsx';

export type CreateSecretValues = Record<string, string | boolean>;

interface ShownSecret {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly help: string;
  /** shown below the secret, such as how it is used */
  readonly footnote?: React.ReactNode;
}

interface CreateSecretDialogProps<O extends AnyOperation> {
  readonly title: string;
  readonly submit: string;
  readonly operation: O;
  readonly request: (values: CreateSecretValues) => CallRequest<O>;
  readonly values?: CreateSecretValues;
  readonly children: (control: Control<CreateSecretValues>) => React.ReactNode;
  readonly secret: (reply: ReplyOf<O>) => ShownSecret;
  readonly onClose: () => void;
}

/**
 * A dialog that creates something that has a secret, such as an API token, and shows the secret once. Only the state of the dialog has
 * the secret, so that none of it stays in memory when the dialog is closed.
 */
export function CreateSecretDialog<O extends AnyOperation>({
  title,
  submit,
  operation,
  request,
  values = {},
  children,
  secret,
  onClose,
}: CreateSecretDialogProps<O>) {
  const [shownSecret, setShownSecret] = useState<ShownSecret | undefined>();
  const create = useOperationMutation(operation, 'handled', (reply) => setShownSecret(secret(reply)));
  const { control, handleSubmit, setError, formState } = useForm<CreateSecretValues>({ defaultValues: values });
  const send = handleSubmit(async (entered) => {
    try {
      await create.mutateAsync(request(entered));
    } catch (error) {
      showServerError(error, Object.keys(values), setError);
    }
  });
  if (shownSecret !== undefined) {
    return (
      <Dialog
        title={shownSecret.title}
        onClose={onClose}
        isAlert
        footer={
          <Button variant="primary" onPress={onClose}>
            I have copied it
          </Button>
        }
      >
        <p>{shownSecret.help}</p>
        <CopyableSecret label={shownSecret.label} value={shownSecret.value} />
        {shownSecret.footnote}
      </Dialog>
    );
  }
  return (
    <FormDialog title={title} onClose={onClose} onSubmit={send} submit={submit} isPending={formState.isSubmitting}>
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      {children(control)}
    </FormDialog>
  );
}
