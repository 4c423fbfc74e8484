import type { AnyOperation, ReplyOf } from '@bunting/contracts';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Control, useForm } from 'react-hook-form';
import { call, type CallRequest } from '../../api/call.ts';
import { Button } from '../buttons/button.tsx';
import { Notice } from '../content/content.tsx';
import { Dialog } from '../dialogs/dialog.tsx';
import { showServerError } from './form.tsx';
import { CopyableSecret } from '../content/copyable-secret.tsx';
import { resourceMessages as text } from '../../messages/resources.ts';
import { messages } from '../../messages/shared.ts';

export type SecretFormValues = Record<string, string | boolean>;

interface ShownSecret {
  readonly title: string;
  readonly label: string;
  readonly value: string;
  readonly help: string;
  /** below the secret: how it is used */
  readonly after?: React.ReactNode;
}

interface SecretFormProps<O extends AnyOperation> {
  readonly title: string;
  readonly submit: string;
  readonly operation: O;
  readonly request: (values: SecretFormValues) => CallRequest<O>;
  /** reads of these operations are repeated afterwards */
  readonly invalidates: readonly AnyOperation[];
  readonly values?: SecretFormValues;
  readonly children: (control: Control<SecretFormValues>) => React.ReactNode;
  readonly secret: (reply: ReplyOf<O>) => ShownSecret;
  readonly onClose: () => void;
}

/**
 * A dialog that makes something with a secret, and shows the secret once. The reply is held by the dialog alone, so that nothing of it is left
 * in the page when the dialog is closed.
 */
export const SecretForm = <O extends AnyOperation>({
  title,
  submit,
  operation,
  request,
  invalidates,
  values = {},
  children,
  secret,
  onClose,
}: SecretFormProps<O>) => {
  const client = useQueryClient();
  const [shown, setShown] = useState<ShownSecret | undefined>();
  const { control, handleSubmit, setError, formState } = useForm<SecretFormValues>({ defaultValues: values });
  const send = handleSubmit(async (entered) => {
    try {
      setShown(secret(await call(operation, request(entered))));
    } catch (error) {
      return showServerError(error, Object.keys(values), setError);
    }
    await Promise.all(invalidates.map(({ operationId }) => client.invalidateQueries({ queryKey: [operationId] })));
  });
  if (shown !== undefined) {
    return (
      <Dialog
        title={shown.title}
        onClose={onClose}
        isAlert
        footer={
          <Button variant="primary" onPress={onClose}>
            {text.secretKept}
          </Button>
        }
      >
        <p>{shown.help}</p>
        <CopyableSecret label={shown.label} value={shown.value} />
        {shown.after}
      </Dialog>
    );
  }
  return (
    <Dialog
      title={title}
      onClose={onClose}
      onSubmit={(event) => void send(event)}
      footer={
        <>
          <Button onPress={onClose}>{messages.common.cancel}</Button>
          <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
            {submit}
          </Button>
        </>
      }
    >
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      {children(control)}
    </Dialog>
  );
};

/** The entered text of a field, nothing when it is empty. */
export const enteredText = (value: string | boolean | undefined): string | undefined =>
  typeof value === 'string' && value.trim() !== '' ? value.trim() : undefined;

/** The instant that is so many days ahead, as RFC 3339; nothing for a time without an end. */
export const instantAfterDays = (days: string | boolean | undefined): string | undefined =>
  typeof days !== 'string' || days === '' ? undefined : new Date(Date.now() + Number(days) * 86_400_000).toISOString();

export const optionsOfPairs = (pairs: readonly (readonly [string, string])[]) =>
  pairs.map(([id, label]) => ({ id, label }));
