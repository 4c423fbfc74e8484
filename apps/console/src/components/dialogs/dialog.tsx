import { Dialog as AriaDialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { Button, IconButton } from '../buttons/button.tsx';
import { ErrorNotice } from '../content/notice.tsx';
import { FocusReturn } from './focus-return.tsx';
import { UnfinishedForm } from './unfinished-forms.tsx';
import styles from './dialog.module.css';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: React.ReactNode;
  /** the buttons at the end of the dialog */
  readonly footer?: React.ReactNode;
  readonly isWide?: boolean;
  /** makes the dialog a form, which its submit button in the footer or Enter submits */
  readonly onSubmit?: (event: React.FormEvent) => void;
  /** whether it asks for an answer: a press outside of it does not close it */
  readonly isAlert?: boolean;
}

/** A dialog that is open as long as it is rendered. Escape and, unless it is an alert, a press outside of it close it. */
export function Dialog({ title, onClose, children, footer, isWide, onSubmit, isAlert = false }: DialogProps) {
  const content = (
    <>
      <div className={styles['body']}>{children}</div>
      {footer !== undefined && <div className={styles['foot']}>{footer}</div>}
    </>
  );
  return (
    <ModalOverlay
      isOpen
      isDismissable={!isAlert}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      className={styles['backdrop'] ?? ''}
    >
      <Modal className={`${styles['modal']} ${isWide === true ? styles['wide'] : ''}`}>
        <AriaDialog role={isAlert ? 'alertdialog' : 'dialog'} className={styles['dialog'] ?? ''}>
          <FocusReturn />
          <div className={styles['head']}>
            <Heading slot="title" level={2}>
              {title}
            </Heading>
            <IconButton icon="close" label="Close" onPress={onClose} />
          </div>
          {onSubmit === undefined ? (
            content
          ) : (
            <form onSubmit={onSubmit} className={styles['dialog']} noValidate>
              {content}
            </form>
          )}
        </AriaDialog>
      </Modal>
    </ModalOverlay>
  );
}

interface FormDialogProps extends Omit<DialogProps, 'footer' | 'onSubmit' | 'isAlert'> {
  /** the label of the button that submits, as Enter does */
  readonly submit: string;
  readonly isPending: boolean;
  readonly isDisabled?: boolean;
  readonly onSubmit: () => unknown;
}

/** A dialog that is a form, which is submitted or cancelled. */
export function FormDialog({ submit, isPending, isDisabled = false, onSubmit, children, ...dialog }: FormDialogProps) {
  return (
    <Dialog
      {...dialog}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
      footer={
        <>
          <Button onPress={dialog.onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={isPending} isDisabled={isDisabled}>
            {submit}
          </Button>
        </>
      }
    >
      <UnfinishedForm isUnfinished />
      {children}
    </Dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  readonly children: React.ReactNode;
  /** the label of the button that confirms */
  readonly confirm: string;
  readonly isDangerous?: boolean;
  readonly isPending?: boolean;
  /** whether it cannot be confirmed yet */
  readonly isDisabled?: boolean;
  readonly onConfirm: () => void;
  readonly onClose: () => void;
}

/** Confirms an action that is hard to undo. */
export function ConfirmDialog({
  title,
  children,
  confirm,
  isDangerous = false,
  isPending = false,
  isDisabled = false,
  onConfirm,
  onClose,
}: ConfirmProps) {
  return (
    <Dialog
      title={title}
      onClose={onClose}
      isAlert
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant={isDangerous ? 'danger' : 'primary'}
            isPending={isPending}
            isDisabled={isDisabled}
            onPress={onConfirm}
            autoFocus
          >
            {confirm}
          </Button>
        </>
      }
    >
      {children}
    </Dialog>
  );
}

interface DialogQueryResultProps<T> {
  /** the title of the dialog, also of the one that shows the error */
  readonly title: string;
  readonly query: { readonly data: T | undefined; readonly error: unknown; readonly refetch: () => unknown };
  readonly onClose: () => void;
  /** the dialog */
  readonly children: (data: T) => React.ReactNode;
}

/** A dialog that needs the data of a query. While the query has failed, it shows the error and a retry instead. */
export function DialogQueryResult<T>({ title, query, onClose, children }: DialogQueryResultProps<T>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error == null) return null;
  return (
    <Dialog title={title} onClose={onClose}>
      <ErrorNotice error={query.error} retry={() => void query.refetch()} />
    </Dialog>
  );
}
