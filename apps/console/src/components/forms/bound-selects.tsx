import type { FieldValues } from 'react-hook-form';
import { ComboBox, Select } from './selects.tsx';
import type { SelectOption } from './fields.tsx';
import { type BoundFieldProps, fieldAppearance, useBoundField } from './bound-fields.tsx';

type BoundSelectProps<T extends FieldValues> = BoundFieldProps<T> & { readonly options: readonly SelectOption[] };

const useChoice = <T extends FieldValues>(props: BoundSelectProps<T>) => {
  const { onBlur: _onBlur, ...field } = useBoundField(props);
  return { ...fieldAppearance(props), ...field, options: props.options };
};

export const BoundSelect = <T extends FieldValues>(props: BoundSelectProps<T>) => <Select {...useChoice(props)} />;
export const BoundComboBox = <T extends FieldValues>(props: BoundSelectProps<T>) => <ComboBox {...useChoice(props)} />;
