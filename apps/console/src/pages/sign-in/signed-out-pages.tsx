import {
  CreateFirstAdmin,
  type RequestOf,
  RequestPasswordReset,
  ResetPassword,
  SignUp,
  ValidateResetLink,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { useForm } from 'react-hook-form';
import { sendAfterSignIn, urlOf } from '../../api/call.ts';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/show-server-error.ts';
import icon from '../../icon.svg';
import layout from '../../components/layout/layout.module.css';
import styles from './sign-in.module.css';
import { CreateAccountForm, type Credentials, SetPasswordForm } from './credentials-forms.tsx';

const texts = {
  incomplete: 'This link is incomplete. Open it as a whole, or ask for a new one.',
} as const;

const Frame = ({ title, children }: { readonly title: string; readonly children: React.ReactNode }) => (
  <main className={styles['page']}>
    <title>{`${title} · Bunting`}</title>
    <div className={styles['card']}>
      <h1 className={styles['title']}>
        <img src={icon} alt="" width="24" height="24" />
        {title}
      </h1>
      {children}
    </div>
  </main>
);

/** The end of a page: what has been done, and a link to the sign-in. */
const DoneMessage = ({ children }: { readonly children: React.ReactNode }) => (
  <>
    <p role="status">{children}</p>
    <a href="/" className={buttonClass({ variant: 'primary' })}>
      Sign in
    </a>
  </>
);

/** A search parameter of the link that a person has opened. */
const useLinkParameter = (name: 'token' | 'invite'): string | undefined => useSearch({ strict: false })[name];

/** Creates the first administrator. The link has the token that Bunting prints at its first start. */
export const FirstAdminPage = () => {
  const token = useLinkParameter('token') ?? '';
  const createAdmin = ({ username, name, email, password }: Credentials) => {
    const body: RequestOf<typeof CreateFirstAdmin>['body'] = {
      token,
      username,
      name: name === '' ? username : name,
      password,
      ...(email === '' ? {} : { email }),
    };
    return sendAfterSignIn('POST', urlOf(CreateFirstAdmin, {}), { body });
  };
  return (
    <Frame title="Create the first administrator">
      <p>This account may do everything. Further people are invited by it.</p>
      <CreateAccountForm send={createAdmin} onDone={() => location.assign('/')} />
    </Frame>
  );
};

const ChoosePassword = ({ token }: { readonly token: string }) => {
  const link = useQuery({ ...operationQuery(ValidateResetLink, { query: { token } }), retry: false, gcTime: 0 });
  const [isDone, setDone] = useState(false);
  if (isDone) return <DoneMessage>Your password is set.</DoneMessage>;
  return (
    <QueryResult query={link}>
      {({ name, email }) => (
        <>
          <p>The password of {name ?? email ?? ''}:</p>
          <SetPasswordForm
            send={({ password }) => sendAfterSignIn('POST', urlOf(ResetPassword, {}), { body: { token, password } })}
            onDone={() => setDone(true)}
          />
        </>
      )}
    </QueryResult>
  );
};

/** For invited people: with `token` they set the password of an account that exists; with `invite` they create their own. */
export const AcceptInvitationPage = () => {
  const [token, invite] = [useLinkParameter('token'), useLinkParameter('invite')];
  const [isDone, setDone] = useState(false);
  const signUp = ({ username, name, email, password }: Credentials) =>
    sendAfterSignIn('POST', urlOf(SignUp, { params: { token: invite } }), {
      body: { username, name, email, password },
    });
  return (
    <Frame title="Welcome to Bunting">
      {token !== undefined && <ChoosePassword token={token} />}
      {token === undefined && isDone && <DoneMessage>Your account is created.</DoneMessage>}
      {token === undefined && !isDone && invite !== undefined && (
        <CreateAccountForm isEmailRequired send={signUp} onDone={() => setDone(true)} />
      )}
      {token === undefined && invite === undefined && <Notice tone="warning">{texts.incomplete}</Notice>}
    </Frame>
  );
};

/** Sets a new password; the link has the token that allows it. */
export const ResetPasswordPage = () => {
  const token = useLinkParameter('token');
  return (
    <Frame title="Choose a password">
      {token === undefined ? <Notice tone="warning">{texts.incomplete}</Notice> : <ChoosePassword token={token} />}
    </Frame>
  );
};

/** Requests an e-mail with a link to set a new password. */
export const ForgottenPasswordPage = () => {
  const { control, handleSubmit, setError, formState } = useForm({ defaultValues: { email: '' } });
  const submit = handleSubmit(async (body) => {
    try {
      await sendAfterSignIn('POST', urlOf(RequestPasswordReset, {}), { body });
    } catch (error) {
      showServerError(error, ['email'], setError);
    }
  });
  return (
    <Frame title="Forgotten password">
      {formState.isSubmitSuccessful ? (
        <DoneMessage>
          If an account has this address, a link is on its way. An administrator can also give you one.
        </DoneMessage>
      ) : (
        <form onSubmit={(event) => void submit(event)} className={layout['stack']} noValidate>
          <p>Enter your email address, and a link to choose a new password is sent to it.</p>
          <BoundTextField
            control={control}
            name="email"
            label="Email"
            required="Enter an email address."
            type="email"
            autoComplete="email"
            autoFocus
          />
          {formState.errors.root?.message !== undefined && (
            <Notice tone="danger">{formState.errors.root.message}</Notice>
          )}
          <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
            Send the link
          </Button>
        </form>
      )}
    </Frame>
  );
};
