import {
  Button,
  ComboBox as AriaComboBox,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  Popover,
  Select as AriaSelect,
  SelectValue,
  Text,
} from 'react-aria-components';
import { useMemo, useState } from 'react';
import { formatCount } from '../../text/format-number.ts';
import { type ChoiceProps, FieldMessages, type SelectOption } from './fields.tsx';
import { maxOfferedOptions, offeredOptions } from './offered-options.ts';
import { Icon } from '../content/icon.tsx';
import styles from './field.module.css';

function optionList(items: readonly SelectOption[]) {
  return (
    <ListBox items={items} renderEmptyState={() => <p className={styles['none']}>Nothing matches.</p>}>
      {(item: SelectOption) => (
        <ListBoxItem id={item.id} textValue={item.label} className={styles['option'] ?? ''}>
          <span>
            <Text slot="label">{item.label}</Text>
            {item.description !== undefined && (
              <Text slot="description" className={styles['description'] ?? ''}>
                {' '}
                {item.description}
              </Text>
            )}
          </span>
        </ListBoxItem>
      )}
    </ListBox>
  );
}

interface SelectProps extends ChoiceProps {
  /** for a cell of a table, whose row and column say what it is: the label is read, and not seen */
  readonly isLabelHidden?: boolean;
}

/** A choice of one of a few options, which are shown when it is opened. */
export function Select({
  label,
  isLabelHidden = false,
  hint,
  error,
  options: items,
  value,
  onChange,
  ...props
}: SelectProps) {
  return (
    <AriaSelect
      placeholder="Choose"
      {...props}
      value={value}
      onChange={(key) => key !== null && onChange(String(key))}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      className={styles['field'] ?? ''}
    >
      <Label className={isLabelHidden ? 'visually-hidden' : (styles['label'] ?? '')}>{label}</Label>
      <Button className={`${styles['input']} ${styles['select']}`}>
        <SelectValue />
        <Icon name="chevronDown" />
      </Button>
      <FieldMessages hint={hint} error={error} />
      <Popover className={styles['popover'] ?? ''}>{optionList(items)}</Popover>
    </AriaSelect>
  );
}

/** A choice of one of many options, which the user finds by typing. */
export function ComboBox({ label, hint, error, options, value, onChange, placeholder, ...props }: ChoiceProps) {
  const [text, setText] = useState('');
  const items = useMemo(() => offeredOptions(options, text, value), [options, text, value]);
  return (
    <AriaComboBox
      {...props}
      defaultItems={items}
      selectedKey={value}
      onInputChange={setText}
      onSelectionChange={(key) => key !== null && onChange(String(key))}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      menuTrigger="focus"
      className={styles['field'] ?? ''}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <div className={styles['combo']}>
        <Input className={styles['input'] ?? ''} placeholder={placeholder} />
        <Button>
          <Icon name="chevronDown" />
        </Button>
      </div>
      <FieldMessages hint={hint} error={error} />
      <Popover className={styles['popover'] ?? ''}>
        {optionList(items)}
        {items.length === maxOfferedOptions && options.length > items.length && (
          <p className={styles['none']}>Type to find others of {formatCount(options.length, 'option')}.</p>
        )}
      </Popover>
    </AriaComboBox>
  );
}
