import type { FieldValues } from 'react-hook-form';
import { ComboBox, Select } from './choices.tsx';
import type { Option } from './fields.tsx';
import { type Bound, looks, useField } from './form.tsx';

type FormChoiceProps<T extends FieldValues> = Bound<T> & { readonly options: readonly Option[] };

const useChoice = <T extends FieldValues>(props: FormChoiceProps<T>) => {
  const { onBlur: _onBlur, ...field } = useField(props);
  return { ...looks(props), ...field, options: props.options };
};

export const FormSelect = <T extends FieldValues>(props: FormChoiceProps<T>) => <Select {...useChoice(props)} />;
export const FormComboBox = <T extends FieldValues>(props: FormChoiceProps<T>) => <ComboBox {...useChoice(props)} />;
