import { type Control, type FieldPath, type FieldValues, useController } from 'react-hook-form';
import { type SelectOption, Switch, TextField } from './fields.tsx';
import { ComboBox, Select } from './selects.tsx';

export interface BoundFieldProps<T extends FieldValues> {
  readonly control: Control<T>;
  readonly name: FieldPath<T>;
  readonly label: string;
  readonly hint?: React.ReactNode;
  /** the error while nothing is entered; without it, the field may be empty */
  readonly required?: string;
  /** returns the error of a value as a sentence; undefined for a valid one */
  readonly validate?: (value: unknown) => string | undefined;
  readonly isDisabled?: boolean;
  readonly autoFocus?: boolean;
}

function useBoundField<T extends FieldValues>({ control, name, required, validate }: BoundFieldProps<T>) {
  const rules = { ...(required !== undefined && { required }), ...(validate && { validate }) };
  const { field, fieldState } = useController({ control, name, rules });
  return {
    value: field.value as string,
    onChange: field.onChange as (value: unknown) => void,
    onBlur: field.onBlur,
    error: fieldState.error?.message,
    isRequired: required !== undefined,
  };
}

function fieldAppearance<T extends FieldValues>({
  label,
  hint,
  isDisabled = false,
  autoFocus = false,
}: BoundFieldProps<T>) {
  return {
    label,
    isDisabled,
    autoFocus,
    ...(hint === undefined ? {} : { hint }),
  };
}

type BoundTextFieldProps<T extends FieldValues> = BoundFieldProps<T> & {
  readonly type?: 'text' | 'email' | 'password' | 'number' | 'url' | 'datetime-local';
  readonly autoComplete?: string;
  readonly placeholder?: string;
  readonly rows?: number;
};

/** A text field of a form of react-hook-form. */
export function BoundTextField<T extends FieldValues>(props: BoundTextFieldProps<T>) {
  const { type, autoComplete, placeholder, rows } = props;
  const inputProps = {
    ...(type && { type }),
    ...(autoComplete && { autoComplete }),
    ...(placeholder && { placeholder }),
  };
  return <TextField {...fieldAppearance(props)} {...inputProps} {...(rows && { rows })} {...useBoundField(props)} />;
}

export function BoundSwitch<T extends FieldValues>({ control, name, label, isDisabled = false }: BoundFieldProps<T>) {
  const { field } = useController({ control, name });
  return (
    <Switch isSelected={field.value as boolean} onChange={field.onChange} onBlur={field.onBlur} isDisabled={isDisabled}>
      {label}
    </Switch>
  );
}

type BoundSelectProps<T extends FieldValues> = BoundFieldProps<T> & { readonly options: readonly SelectOption[] };

function useChoice<T extends FieldValues>(props: BoundSelectProps<T>) {
  const { onBlur: _onBlur, ...field } = useBoundField(props);
  return { ...fieldAppearance(props), ...field, options: props.options };
}

export function BoundSelect<T extends FieldValues>(props: BoundSelectProps<T>) {
  return <Select {...useChoice(props)} />;
}
export function BoundComboBox<T extends FieldValues>(props: BoundSelectProps<T>) {
  return <ComboBox {...useChoice(props)} />;
}
