import { type Control, type FieldPath, type FieldValues, useController, type UseFormSetError } from 'react-hook-form';
import { ApiError } from '../../api/api-error.ts';
import { Switch, TextField } from './fields.tsx';

export interface BoundFieldProps<T extends FieldValues> {
  readonly control: Control<T>;
  readonly name: FieldPath<T>;
  readonly label: string;
  readonly hint?: React.ReactNode;
  /** The message when nothing is entered; the field may be empty when it is left out. */
  readonly required?: string;
  /** What is wrong with the value, in words. */
  readonly validate?: (value: unknown) => string | undefined;
  readonly isDisabled?: boolean;
  readonly autoFocus?: boolean;
}

export const useField = <T extends FieldValues>({ control, name, required, validate }: BoundFieldProps<T>) => {
  const rules = { ...(required !== undefined && { required }), ...(validate && { validate }) };
  const { field, fieldState } = useController({ control, name, rules });
  return {
    value: field.value as string,
    onChange: field.onChange as (value: unknown) => void,
    onBlur: field.onBlur,
    error: fieldState.error?.message,
    isRequired: required !== undefined,
  };
};

export const fieldAppearance = <T extends FieldValues>({
  label,
  hint,
  isDisabled = false,
  autoFocus = false,
}: BoundFieldProps<T>) => ({
  label,
  isDisabled,
  autoFocus,
  ...(hint === undefined ? {} : { hint }),
});

type FormTextProps<T extends FieldValues> = BoundFieldProps<T> & {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'datetime-local';
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly rows?: number;
};

/** A text field of a form of react-hook-form. */
export const FormText = <T extends FieldValues>(props: FormTextProps<T>) => {
  const { type, autoComplete, placeholder, rows } = props;
  const more = { ...(type && { type }), ...(autoComplete && { autoComplete }), ...(placeholder && { placeholder }) };
  return <TextField {...fieldAppearance(props)} {...more} {...(rows && { rows })} {...useField(props)} />;
};

export const FormSwitch = <T extends FieldValues>({ control, name, label, isDisabled = false }: BoundFieldProps<T>) => {
  const { field } = useController({ control, name });
  return (
    <Switch isSelected={field.value as boolean} onChange={field.onChange} onBlur={field.onBlur} isDisabled={isDisabled}>
      {label}
    </Switch>
  );
};

/**
 * Shows what the server refused at the fields that it names (`/body/name`), and the rest as the error of the form
 * (`formState.errors.root`). `fields` are the names of the form's fields.
 */
export const showServerError = <T extends FieldValues>(
  error: unknown,
  fields: readonly FieldPath<T>[],
  setError: UseFormSetError<T>,
): void => {
  if (!(error instanceof ApiError)) throw error;
  let isShown = false;
  for (const { path = '', message } of error.details) {
    const name = path.replace(/^\/body\//, '').replaceAll('/', '.');
    const field = fields.find((one) => one === name);
    if (field === undefined) continue;
    setError(field, { message }, { shouldFocus: !isShown });
    isShown = true;
  }
  if (!isShown) setError('root', { message: error.message });
};

export { FormComboBox, FormSelect } from './form-selects.tsx';
