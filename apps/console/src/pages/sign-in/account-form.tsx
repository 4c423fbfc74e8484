import { useForm, type UseFormSetError } from 'react-hook-form';
import { Button } from '../../components/buttons/button.tsx';
import { Notice } from '../../components/content/notice.tsx';
import { BoundTextField } from '../../components/forms/bound-fields.tsx';
import { showServerError } from '../../components/forms/show-server-error.ts';
import { NewPasswordFields } from '../../components/forms/password-fields.tsx';
import { accountMessages as text } from '../../messages/account.ts';
import layout from '../../components/layout/layout.module.css';

export interface AccountFields {
  readonly username: string;
  readonly name: string;
  readonly email: string;
  readonly password: string;
  readonly repeatedPassword: string;
}

const noFields: AccountFields = { username: '', name: '', email: '', password: '', repeatedPassword: '' };

/** Runs a call, and shows at the fields what the server refuses. */
const submitAccount = async (
  { password, repeatedPassword }: AccountFields,
  setError: UseFormSetError<AccountFields>,
  job: () => Promise<unknown>,
): Promise<boolean> => {
  if (password !== repeatedPassword) {
    setError('repeatedPassword', { message: text.different }, { shouldFocus: true });
    return false;
  }
  try {
    await job();
    return true;
  } catch (error) {
    showServerError(error, ['username', 'name', 'email', 'password'], setError);
    return false;
  }
};

interface AccountFormProps {
  readonly submit: string;
  readonly hasAccountFields: boolean;
  readonly isEmailRequired?: boolean;
  readonly run: (account: AccountFields) => Promise<unknown>;
  readonly onDone: () => void;
}

export const AccountForm = ({ submit, hasAccountFields, isEmailRequired = false, run, onDone }: AccountFormProps) => {
  const { control, handleSubmit, setError, formState } = useForm<AccountFields>({ defaultValues: noFields });
  const onSubmit = handleSubmit(async (account) => {
    if (await submitAccount(account, setError, () => run(account))) onDone();
  });
  const rootError = formState.errors.root?.message;
  return (
    <form onSubmit={(event) => void onSubmit(event)} className={layout['stack']} noValidate>
      {hasAccountFields && (
        <>
          <BoundTextField
            control={control}
            name="username"
            label={text.username}
            required={text.usernameMissing}
            autoComplete="username"
            autoFocus
          />
          <BoundTextField control={control} name="name" label={text.name} autoComplete="name" />
          <BoundTextField
            control={control}
            name="email"
            label={text.email}
            type="email"
            autoComplete="email"
            {...(isEmailRequired ? { required: text.emailMissing } : {})}
          />
        </>
      )}
      <NewPasswordFields control={control} password="password" repeatedPassword="repeatedPassword" />
      {rootError !== undefined && <Notice tone="danger">{rootError}</Notice>}
      <Button type="submit" variant="primary" isPending={formState.isSubmitting}>
        {submit}
      </Button>
    </form>
  );
};
