import type { AnyOperation } from '@bunting/contracts';
import { useState } from 'react';
import type { CallRequest } from '../../api/call.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { notify } from '../../shell/toasts.tsx';
import { Button } from '../buttons/button.tsx';
import { ErrorNotice } from '../content/notice.tsx';
import { Dialog } from './dialog.tsx';
import { TextField } from '../forms/fields.tsx';

export interface ConfirmOperationDialogProps<O extends AnyOperation> {
  /** names the thing: `Delete the segment “Norway”` */
  readonly title: string;
  /** what happens, and what uses the thing */
  readonly children: React.ReactNode;
  /** the label of the button */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  /** the name that the user must type to confirm, for an irreversible action with large effects */
  readonly typedName?: string;
  /** whether the operation would be refused: there is only a button to close, and the children explain why */
  readonly isImpossible?: boolean;
  readonly operation: O;
  readonly request: CallRequest<O>;
  /** the notification after a success */
  readonly notification: string;
  readonly onClose: () => void;
  /** leaves the page of the thing */
  readonly onDone?: () => void;
}

/** Runs an operation on one thing after a question that names it. A refusal is shown in the dialog. */
export function ConfirmOperationDialogImplementation<O extends AnyOperation>({
  title,
  children,
  confirm,
  isDangerous = false,
  typedName,
  isImpossible = false,
  operation,
  request,
  notification,
  onClose,
  onDone,
}: ConfirmOperationDialogProps<O>) {
  const finish = (): void => {
    notify(notification);
    onClose();
    onDone?.();
  };
  // The page of the thing itself is left before its queries are invalidated: after a deletion, they would find nothing.
  const mutation = useOperationMutation(operation, 'handled', onDone && finish);
  const [typedText, setTypedText] = useState('');
  const isNameTyped = typedName === undefined || typedText.trim() === typedName;
  const run = async (): Promise<void> => {
    if (!isNameTyped || isImpossible) return;
    try {
      await mutation.mutateAsync(request);
    } catch {
      return;
    }
    if (onDone === undefined) finish();
  };
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isAlert
      onSubmit={(event) => {
        event.preventDefault();
        void run();
      }}
      footer={
        <>
          <Button onPress={onClose} autoFocus={isImpossible}>
            {isImpossible ? 'Close' : 'Cancel'}
          </Button>
          {!isImpossible && (
            <Button
              type="submit"
              variant={isDangerous ? 'danger' : 'primary'}
              isPending={mutation.isPending}
              isDisabled={!isNameTyped}
              autoFocus={typedName === undefined}
            >
              {confirm}
            </Button>
          )}
        </>
      }
    >
      {children}
      <ErrorNotice error={mutation.error} />
      {typedName !== undefined && !isImpossible && (
        <TextField
          label={`Type “${typedName}” to confirm`}
          value={typedText}
          onChange={setTypedText}
          autoComplete="off"
          autoFocus
        />
      )}
    </Dialog>
  );
}
