import {
  CreateFirstAdmin,
  EndMails,
  type RequestOf,
  RequestPasswordReset,
  ResetPassword,
  SignUp,
  ValidateResetLink,
} from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type Control, useForm } from 'react-hook-form';
import { ApiError } from '../../api/api-error.ts';
import { call, sendAfterSignIn, urlOf } from '../../api/call.ts';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { basePath } from '../../base-path.ts';
import { Button, buttonClass } from '../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../components/content/notice.tsx';
import { QueryResult } from '../../components/content/query-result.tsx';
import { BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/form-values.ts';
import { NewPasswordFields } from '../../components/forms/password-fields.tsx';
import layout from '../../components/layout/layout.module.css';
import icon from '../../icon.svg';
import styles from './sign-in.module.css';

/** What a person enters for a new account; all but the passwords stay empty where a password is set for an existing one. */
export interface Credentials {
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly repeatedPassword: string;
}

const noCredentials: Credentials = { username: '', name: '', email: '', password: '', repeatedPassword: '' };

interface CredentialsFormProps {
  /** Sends what was entered to the server. @throws ApiError which the form shows at its fields */
  readonly send: (credentials: Credentials) => Promise<unknown>;
  readonly onDone: () => void;
}

interface CredentialsFormLayoutProps extends CredentialsFormProps {
  readonly submitLabel: string;
  /** renders the fields above the two passwords */
  readonly renderFields?: (control: Control<Credentials>) => React.ReactNode;
}

/** A form with a new password, entered twice. It is sent only when the two are equal. */
function CredentialsForm({ submitLabel, renderFields, send, onDone }: CredentialsFormLayoutProps) {
  const { control, handleSubmit, setError, formState } = useForm<Credentials>({ defaultValues: noCredentials });
  const submit = handleSubmit(async (credentials) => {
    if (credentials.password !== credentials.repeatedPassword) {
      setError('repeatedPassword', { message: 'The two passwords differ.' }, { shouldFocus: true });
      return;
    }
    try {
      await send(credentials);
    } catch (error) {
      showServerError(error, ['username', 'name', 'email', 'password'], setError);
      return;
    }
    onDone();
  });
  const rootError = formState.errors.root?.message;
  return (
    <form onSubmit={(event) => void submit(event)} className={layout['stack']} noValidate>
      {renderFields?.(control)}
      <NewPasswordFields control={control} password="password" repeatedPassword="repeatedPassword" />
      {rootError !== undefined && <Notice tone="danger">{rootError}</Notice>}
      <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
        {submitLabel}
      </Button>
    </form>
  );
}

/** The form with which a person creates an account. */
function CreateAccountForm({
  isEmailRequired = false,
  ...props
}: CredentialsFormProps & { readonly isEmailRequired?: boolean }) {
  return (
    <CredentialsForm
      {...props}
      submitLabel="Create the account"
      renderFields={(control) => (
        <>
          <BoundTextField
            control={control}
            name="username"
            label="Username"
            required="Enter a username."
            autoComplete="username"
            autoFocus
          />
          <BoundTextField control={control} name="name" label="Name" hint="Optional" autoComplete="name" />
          <BoundTextField
            control={control}
            name="email"
            label="Email"
            type="email"
            autoComplete="email"
            {...(isEmailRequired ? { required: 'Enter an email address.' } : { hint: 'Optional' })}
          />
        </>
      )}
    />
  );
}

/** The form with which a person sets a new password for an account. */
function SetPasswordForm(props: CredentialsFormProps) {
  return <CredentialsForm {...props} submitLabel="Set the password" />;
}

const texts = {
  incomplete: 'This link is incomplete. Open it as a whole, or ask for a new one.',
} as const;

function Frame({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
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
}

function BackToSignIn() {
  return <a href={`${basePath}/`}>Back to sign in</a>;
}

/** The end of a page: what has been done, and a link to the sign-in. */
function DoneMessage({ children }: { readonly children: React.ReactNode }) {
  return (
    <>
      <p role="status">{children}</p>
      <a href={`${basePath}/`} className={buttonClass({ variant: 'primary' })}>
        Sign in
      </a>
    </>
  );
}

/** A search parameter of the link that a person has opened. */
function useLinkParameter(name: 'token' | 'invite'): string | undefined {
  return useSearch({ strict: false })[name];
}

/** Creates the first administrator. The link has the token that Bunting prints at its first start. */
export function FirstAdminPage() {
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
      <CreateAccountForm send={createAdmin} onDone={() => location.assign(`${basePath}/`)} />
    </Frame>
  );
}

function ChoosePassword({ token }: { readonly token: string }) {
  const link = useQuery({ ...operationQuery(ValidateResetLink, { query: { token } }), retry: false, gcTime: 0 });
  const [isDone, setDone] = useState(false);
  if (isDone) return <DoneMessage>Your password is set.</DoneMessage>;
  // A link that has expired or is used up does not work the next time either.
  if (link.error instanceof ApiError && ['InvalidTokenError', 'UsedTokenError'].includes(link.error.kind))
    return (
      <>
        <ErrorNotice error={link.error} />
        <BackToSignIn />
      </>
    );
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
}

/** For invited people: with `token` they set the password of an account that exists; with `invite` they create their own. */
export function AcceptInvitationPage() {
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
}

/** Sets a new password; the link has the token that allows it. */
export function ResetPasswordPage() {
  const token = useLinkParameter('token');
  return (
    <Frame title="Choose a password">
      {token === undefined ? <Notice tone="warning">{texts.incomplete}</Notice> : <ChoosePassword token={token} />}
    </Frame>
  );
}

/** Requests an e-mail with a link to set a new password. */
export function ForgottenPasswordPage() {
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
          <BackToSignIn />
        </form>
      )}
    </Frame>
  );
}

function StopMails({ token }: { readonly token: string }) {
  const stop = useMutation({ mutationFn: () => call(EndMails, { query: { token } }) });
  const isDaily = token.split('.')[1] === 'daily';
  if (stop.isSuccess)
    return <p role="status">You get no more of them. Your profile says what else is mailed to you.</p>;
  return (
    <div className={layout['stack']}>
      <p>
        {isDaily
          ? 'Should the mail of the day, with everything that is in it, not come any more?'
          : 'Should mails of this kind not come any more?'}{' '}
        The inbox of the console stays as it is.
      </p>
      {stop.isError && <Notice tone="danger">{stop.error.message}</Notice>}
      <Button variant="primary" isPending={stop.isPending} onPress={() => stop.mutate()}>
        Stop these mails
      </Button>
    </div>
  );
}

/** Ends the mails that the link in one of them is for. Opening it changes nothing: programs open links as well. */
export function UnsubscribePage() {
  const token = useLinkParameter('token');
  return (
    <Frame title="Fewer mails">
      {token === undefined ? <Notice tone="warning">{texts.incomplete}</Notice> : <StopMails token={token} />}
    </Frame>
  );
}
