import { type Control, useForm } from 'react-hook-form';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/show-server-error.ts';
import { NewPasswordFields } from '../../components/forms/password-fields.tsx';
import layout from '../../components/layout/layout.module.css';

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
const CredentialsForm = ({ submitLabel, renderFields, send, onDone }: CredentialsFormLayoutProps) => {
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
};

/** The form with which a person creates an account. */
export const CreateAccountForm = ({
  isEmailRequired = false,
  ...props
}: CredentialsFormProps & { readonly isEmailRequired?: boolean }) => (
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
        <BoundTextField control={control} name="name" label="Name" autoComplete="name" />
        <BoundTextField
          control={control}
          name="email"
          label="Email"
          type="email"
          autoComplete="email"
          {...(isEmailRequired ? { required: 'Enter an email address.' } : {})}
        />
      </>
    )}
  />
);

/** The form with which a person sets a new password for an account. */
export const SetPasswordForm = (props: CredentialsFormProps) => (
  <CredentialsForm {...props} submitLabel="Set the password" />
);
