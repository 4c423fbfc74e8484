import type { FieldValues } from 'react-hook-form';
import { ComboBox, Select } from './selects.tsx';
import type { SelectOption } from './fields.tsx';
import { type BoundFieldProps, fieldAppearance, useBoundField } from './bound-fields.tsx';

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
