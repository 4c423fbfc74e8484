import type { FieldValues } from 'react-hook-form';
import { type BoundFieldProps, BoundTextField } from './bound-fields.tsx';

type PasswordFieldProps<T extends FieldValues> = Omit<BoundFieldProps<T>, 'required'> & {
  /** whether the user chooses it: the browser offers to generate a password instead of filling in a stored one */
  readonly isNew?: boolean;
};

/** A password that must be entered. */
export function PasswordField<T extends FieldValues>({ isNew = false, ...props }: PasswordFieldProps<T>) {
  return (
    <BoundTextField
      {...props}
      required="Enter a password."
      type="password"
      autoComplete={isNew ? 'new-password' : 'current-password'}
    />
  );
}

interface NewPasswordProps<T extends FieldValues> extends Pick<BoundFieldProps<T>, 'control'> {
  readonly password: BoundFieldProps<T>['name'];
  readonly repeatedPassword: BoundFieldProps<T>['name'];
}

/** A new password, entered twice. The form compares the two. */
export function NewPasswordFields<T extends FieldValues>({ control, password, repeatedPassword }: NewPasswordProps<T>) {
  return (
    <>
      <PasswordField
        control={control}
        name={password}
        label="New password"
        hint="Ten characters or more; with upper and lower case, digits and signs, or a long sentence"
        isNew
      />
      <PasswordField control={control} name={repeatedPassword} label="The new password again" isNew />
    </>
  );
}
