import type { FieldValues } from 'react-hook-form';
import { accountMessages } from '../../messages/account.ts';
import { type BoundFieldProps, BoundTextField } from './bound-fields.tsx';

type PasswordFieldProps<T extends FieldValues> = Omit<BoundFieldProps<T>, 'required'> & {
  /** whether the user chooses it: the browser offers to generate a password instead of filling in a stored one */
  readonly isNew?: boolean;
};

/** A password that must be entered. */
export const PasswordField = <T extends FieldValues>({ isNew = false, ...props }: PasswordFieldProps<T>) => (
  <BoundTextField
    {...props}
    required={accountMessages.passwordMissing}
    type="password"
    autoComplete={isNew ? 'new-password' : 'current-password'}
  />
);

interface NewPasswordProps<T extends FieldValues> extends Pick<BoundFieldProps<T>, 'control'> {
  readonly password: BoundFieldProps<T>['name'];
  readonly repeatedPassword: BoundFieldProps<T>['name'];
}

/** A new password, entered twice. The form compares the two. */
export const NewPasswordFields = <T extends FieldValues>({
  control,
  password,
  repeatedPassword,
}: NewPasswordProps<T>) => (
  <>
    <PasswordField
      control={control}
      name={password}
      label={accountMessages.password}
      hint={accountMessages.passwordHint}
      isNew
    />
    <PasswordField control={control} name={repeatedPassword} label={accountMessages.repeatedPassword} isNew />
  </>
);
