import type { FieldValues } from 'react-hook-form';
import { ComboBox, Select } from './selects.tsx';
import type { Option } from './fields.tsx';
import { type BoundFieldProps, fieldAppearance, useField } from './form.tsx';

type FormChoiceProps<T extends FieldValues> = BoundFieldProps<T> & { readonly options: readonly Option[] };

const useChoice = <T extends FieldValues>(props: FormChoiceProps<T>) => {
  const { onBlur: _onBlur, ...field } = useField(props);
  return { ...fieldAppearance(props), ...field, options: props.options };
};

export const FormSelect = <T extends FieldValues>(props: FormChoiceProps<T>) => <Select {...useChoice(props)} />;
export const FormComboBox = <T extends FieldValues>(props: FormChoiceProps<T>) => <ComboBox {...useChoice(props)} />;
