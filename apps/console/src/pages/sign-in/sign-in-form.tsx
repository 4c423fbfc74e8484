import type { Me } from '@bunting/contracts';
import { useId, useState } from 'react';
import { ApiError } from '../../api/api-error.ts';
import type { SignInOffer } from '../../api/pending-sign-in.ts';
import { signInWithKey, signInWithPassword } from '../../api/sign-in.ts';
import { basePath } from '../../base-path.ts';
import { buttonClass } from '../../components/buttons/button-class.ts';
import buttons from '../../components/buttons/button.module.css';
import fields from '../../components/forms/field.module.css';
import layout from '../../components/layout/layout.module.css';
import icon from '../../icon.svg';
import { explainError } from '../../text/explain-error.ts';
import styles from './sign-in.module.css';

// The controls of the browser, without React Aria and react-hook-form: this is what a visitor without a session waits for.

/** The message for a failed sign-in; `wrongCredentials` where the server refused what was entered. */
function explainFailure(error: unknown, wrongCredentials: string): string {
  return error instanceof ApiError && (error.status === 401 || error.status === 403)
    ? wrongCredentials
    : explainError(error);
}

interface InputProps {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly type?: 'password';
  readonly autoComplete: string;
  readonly autoFocus?: boolean;
  /** why the value is not accepted */
  readonly error: string | undefined;
  readonly onChange: () => void;
}

function Input({ label, hint, error, ...props }: InputProps) {
  const id = useId();
  return (
    <div className={fields['field']}>
      <label className={fields['label']} htmlFor={id}>
        {label}
      </label>
      <input
        {...props}
        id={id}
        className={fields['input']}
        aria-describedby={`${id}-hint ${id}-error`}
        aria-required
        {...(error !== undefined && { 'aria-invalid': true })}
      />
      <span id={`${id}-hint`} className={fields['hint']}>
        {hint}
      </span>
      <span id={`${id}-error`} className={fields['error']}>
        {error}
      </span>
    </div>
  );
}

interface FormInput extends Omit<InputProps, 'error' | 'onChange'> {
  /** said while nothing is entered */
  readonly required: string;
}

interface CredentialsFormProps {
  readonly inputs: readonly FormInput[];
  readonly wrongCredentials: string;
  /** Signs in with what was entered, by the names of the inputs. @throws ApiError */
  readonly signIn: (entered: Readonly<Record<string, string>>) => Promise<Me>;
  readonly onSignedIn: (me: Me) => void | Promise<void>;
  readonly children?: React.ReactNode;
}

/** A form that must be filled in completely, and says at the end why it was refused. */
function CredentialsForm({ inputs, wrongCredentials, signIn, onSignedIn, children }: CredentialsFormProps) {
  const [missing, setMissing] = useState<ReadonlySet<string>>(new Set());
  const [failure, setFailure] = useState<string | undefined>();
  const [isPending, setPending] = useState(false);
  const submit = async (form: HTMLFormElement): Promise<void> => {
    const entered = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, String(value)]));
    const empty = inputs.filter(({ name }) => (entered[name] ?? '').trim() === '').map(({ name }) => name);
    setMissing(new Set(empty));
    setFailure(undefined);
    if (empty[0] !== undefined) {
      (form.elements.namedItem(empty[0]) as HTMLInputElement).focus();
      return;
    }
    setPending(true);
    try {
      // Pending until what comes after it is shown: a second press would sign in a second time.
      await onSignedIn(await signIn(entered));
    } catch (error) {
      setFailure(explainFailure(error, wrongCredentials));
    } finally {
      setPending(false);
    }
  };
  return (
    <form
      className={layout['stack']}
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        if (!isPending) void submit(event.currentTarget);
      }}
    >
      {inputs.map(({ required, ...input }) => (
        <Input
          key={input.name}
          {...input}
          error={missing.has(input.name) ? required : undefined}
          onChange={() => setMissing((before) => new Set([...before].filter((name) => name !== input.name)))}
        />
      ))}
      {failure !== undefined && (
        <p role="alert" className={styles['failure']}>
          {failure}
        </p>
      )}
      <button
        type="submit"
        className={`${buttonClass({ variant: 'primary' })} ${isPending ? (buttons['pending'] ?? '') : ''}`}
      >
        Sign in
      </button>
      {children}
    </form>
  );
}

const passwordInputs: readonly FormInput[] = [
  {
    name: 'username',
    label: 'Email or username',
    required: 'Enter your email or username.',
    autoComplete: 'username',
    autoFocus: true,
  },
  {
    name: 'password',
    label: 'Password',
    required: 'Enter a password.',
    type: 'password',
    autoComplete: 'current-password',
  },
];

const keyInputs: readonly FormInput[] = [
  {
    name: 'key',
    label: 'API key',
    required: 'Enter an API key.',
    hint: 'An admin token or a personal access token. It is kept in this page’s memory only: a reload asks for it again.',
    type: 'password',
    autoComplete: 'off',
    autoFocus: true,
  },
];

interface SignInFormProps {
  readonly offer: SignInOffer;
  /** whether there was a session, which has ended: the page below has what was entered */
  readonly hadSession: boolean;
  readonly onSignedIn: (me: Me) => void | Promise<void>;
}

/** All ways to sign in that the server offers. */
export function SignInForm({ offer, hadSession, onSignedIn }: SignInFormProps) {
  const { path, options } = offer;
  const [usesKey, setUsesKey] = useState(path === undefined || offer.defaultHidden);
  return (
    <>
      {hadSession && <p>Your session has ended. Sign in, and go on where you were: nothing you entered is lost.</p>}
      {offer.isWithoutUsers && (
        <p className={styles['first']}>
          Nobody has an account yet. The first one is created by the link that Bunting printed at its start, within an
          hour; a restart prints a new one.
        </p>
      )}
      {options.length > 0 && (
        <>
          <div className={styles['options']}>
            {options.map(({ type, message, path: target }) => (
              <a
                key={type}
                href={`${basePath}${target}?redirect=${encodeURIComponent(location.pathname + location.search + location.hash)}`}
                {...(hadSession && { target: '_blank' })}
                className={buttonClass()}
              >
                {message}
              </a>
            ))}
          </div>
          {hadSession && <p>It opens in another tab. Come back to this one when you are signed in there.</p>}
          <p className={styles['or']}>or</p>
        </>
      )}
      {usesKey || path === undefined ? (
        <CredentialsForm
          key="key"
          inputs={keyInputs}
          wrongCredentials="This key is not accepted. Is it complete, and an admin or personal token?"
          signIn={({ key = '' }) => signInWithKey(key.trim())}
          onSignedIn={onSignedIn}
        />
      ) : (
        <CredentialsForm
          key="password"
          inputs={passwordInputs}
          wrongCredentials="These credentials are not right."
          signIn={({ username = '', password = '' }) => signInWithPassword(path, username, password)}
          onSignedIn={onSignedIn}
        >
          <a href={`${basePath}/forgotten-password`}>Forgotten password?</a>
        </CredentialsForm>
      )}
      {path === undefined ? (
        !hadSession && <p>At the first start Bunting prints an admin token; it works as an API key here.</p>
      ) : (
        <button
          type="button"
          className={`${buttonClass({ variant: 'quiet' })} ${styles['other']}`}
          onClick={() => setUsesKey(!usesKey)}
        >
          {usesKey ? 'Use a password instead' : 'Use an API key instead'}
        </button>
      )}
    </>
  );
}

/** The page of a visitor without a session: nothing of the console is loaded before it. */
export function SignInPage({ offer, onSignedIn }: Omit<SignInFormProps, 'hadSession'>) {
  return (
    <main className={styles['page']}>
      <title>Sign in · Bunting</title>
      <div className={styles['card']} role="group" aria-labelledby="sign-in">
        <h1 id="sign-in" className={styles['title']}>
          <img src={icon} alt="" width="24" height="24" />
          Sign in to Bunting
        </h1>
        <SignInForm offer={offer} hadSession={false} onSignedIn={onSignedIn} />
      </div>
    </main>
  );
}
