import { useEffect, useState } from 'react';
import { Dialog, Heading, Modal, ModalOverlay } from 'react-aria-components';
import { useForm } from 'react-hook-form';
import { useQueryClient } from '@tanstack/react-query';
import { ApiError } from '../../api/api-error.ts';
import type { SignInOffer } from '../../api/pending-sign-in.ts';
import { signInWithKey, signInWithPassword } from '../../api/sign-in.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import dialogStyles from '../../components/dialogs/dialog.module.css';
import { BoundTextField } from '../../components/forms/bound-fields.tsx';
import { PasswordField } from '../../components/forms/password-fields.tsx';
import icon from '../../icon.svg';
import { explainError } from '../../text/explain-error.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './sign-in.module.css';

/** The message for a failed sign-in; `wrongCredentials` where the server refused what was entered. */
function explainFailure(error: unknown, wrongCredentials: string): string {
  return error instanceof ApiError && (error.status === 401 || error.status === 403)
    ? wrongCredentials
    : explainError(error);
}

function PasswordForm({ path }: { readonly path: string }) {
  const { control, handleSubmit, setError, formState } = useForm({ defaultValues: { username: '', password: '' } });
  const submit = handleSubmit(async ({ username, password }) => {
    try {
      await signInWithPassword(path, username, password);
    } catch (error) {
      setError('root', { message: explainFailure(error, 'These credentials are not right.') });
    }
  });
  return (
    <form onSubmit={(event) => void submit(event)} className={layout['stack']} noValidate>
      <BoundTextField
        control={control}
        name="username"
        label="Email or username"
        required="Email or username"
        autoComplete="username"
        autoFocus
      />
      <PasswordField control={control} name="password" label="Password" />
      {formState.errors.root?.message !== undefined && <Notice tone="danger">{formState.errors.root.message}</Notice>}
      <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
        Sign in
      </Button>
      <a href="/forgotten-password">Forgotten password?</a>
    </form>
  );
}

function KeyForm() {
  const { control, handleSubmit, setError, formState } = useForm({ defaultValues: { key: '' } });
  const submit = handleSubmit(async ({ key }) => {
    try {
      await signInWithKey(key.trim());
    } catch (error) {
      setError('key', {
        message: explainFailure(error, 'This key is not accepted. Is it complete, and an admin or personal token?'),
      });
    }
  });
  return (
    <form onSubmit={(event) => void submit(event)} className={layout['stack']} noValidate>
      <BoundTextField
        control={control}
        name="key"
        label="API key"
        required="API key"
        hint="An admin token or a personal access token. It is kept in this page’s memory only: a reload asks for it again."
        type="password"
        autoComplete="off"
        autoFocus
      />
      <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
        Sign in
      </Button>
    </form>
  );
}

/** The sign-in form over the page. The page below stays mounted, so that what was typed in it is not lost. */
export function SignIn({ offer }: { readonly offer: SignInOffer }) {
  const client = useQueryClient();
  // Cached data means that there was a session, which has ended.
  const [hadSession] = useState(() =>
    client
      .getQueryCache()
      .getAll()
      .some(({ state }) => state.data !== undefined),
  );
  const hasPassword = offer.path !== undefined && !offer.defaultHidden;
  const [usesKey, setUsesKey] = useState(!hasPassword);
  useEffect(() => () => void client.invalidateQueries(), [client]);
  return (
    <ModalOverlay
      isOpen
      isKeyboardDismissDisabled
      className={`${dialogStyles['backdrop']} ${hadSession ? '' : styles['first']}`}
    >
      <Modal className={`${dialogStyles['modal']} ${styles['modal']}`}>
        <Dialog className={styles['body'] ?? ''}>
          <Heading slot="title" level={1} className={styles['title'] ?? ''}>
            <img src={icon} alt="" width="24" height="24" />
            Sign in
          </Heading>
          {hadSession && <p>Your session has ended. Sign in, and go on where you were: nothing you entered is lost.</p>}
          {offer.options.length > 0 && (
            <>
              <div className={styles['options']}>
                {offer.options.map(({ type, message, path }) => (
                  <a key={type} href={path} className={buttonClass()}>
                    {message}
                  </a>
                ))}
              </div>
              <p className={styles['or']}>or</p>
            </>
          )}
          {usesKey || offer.path === undefined ? <KeyForm /> : <PasswordForm path={offer.path} />}
          {offer.path === undefined ? (
            !hadSession && (
              <Notice>At the first start Bunting prints an admin token; it works as an API key here.</Notice>
            )
          ) : (
            <Button variant="quiet" onPress={() => setUsesKey(!usesKey)}>
              {usesKey ? 'Use a password instead' : 'Use an API key instead'}
            </Button>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
