import { type ReactNode, type RefObject, use, useMemo, useState } from 'react';
import {
  Button,
  ComboBox as AriaComboBox,
  ComboBoxStateContext,
  Input,
  Label,
  ListBox,
  ListBoxItem,
  type ListBoxProps,
  OverlayTriggerStateContext,
  Popover,
  Text,
} from 'react-aria-components';
import { formatCount } from '../../text/format-number.ts';
import { FocusReturn } from '../dialogs/focus-return.tsx';
import { Icon } from '../content/icon.tsx';
import { type ComboBoxProps, FieldMessages, type SelectOption } from './fields.tsx';
import { maxOfferedOptions, offeredOptions } from './offered-options.ts';
import styles from './field.module.css';

// What opens below a select or a combo box. It is large, and loaded when the first of them gets the focus (selects.tsx).

function OptionList({ items, ...props }: ListBoxProps<SelectOption> & { readonly items: readonly SelectOption[] }) {
  return (
    <ListBox {...props} items={items} renderEmptyState={() => <p className={styles['none']}>Nothing matches.</p>}>
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

interface SelectListProps {
  readonly labelId: string;
  readonly options: readonly SelectOption[];
  readonly value: string | null;
  /** which option has the focus at first, where none is chosen */
  readonly focus: 'first' | 'last';
  readonly trigger: RefObject<HTMLElement | null>;
  readonly onChoose: (value: string) => void;
  readonly onClose: () => void;
}

/** The options of a select while it is open. */
export function SelectList({ labelId, options, value, focus, trigger, onChoose, onClose }: SelectListProps) {
  // The list reports a press of the chosen option, too, which closes it.
  const repeats = { allowDuplicateSelectionEvents: true };
  return (
    <Popover
      isOpen
      triggerRef={trigger}
      onOpenChange={(isOpen) => !isOpen && onClose()}
      placement="bottom start"
      aria-labelledby={labelId}
      className={styles['popover'] ?? ''}
    >
      <FocusReturn />
      <OptionList
        {...repeats}
        items={options}
        aria-labelledby={labelId}
        autoFocus={focus}
        selectionMode="single"
        disallowEmptySelection
        shouldSelectOnPressUp
        shouldFocusOnHover
        selectedKeys={value === null ? [] : [value]}
        onSelectionChange={(keys) => {
          onClose();
          for (const key of keys) onChoose(String(key));
        }}
      />
    </Popover>
  );
}

/** Keeps what is typed where the list below it closes because the page scrolls: React Aria would put the chosen option back. */
function KeepsText({ children }: { readonly children: ReactNode }) {
  const state = use(ComboBoxStateContext);
  const overlay = state && { ...state, close: () => state.setOpen(false) };
  return <OverlayTriggerStateContext value={overlay}>{children}</OverlayTriggerStateContext>;
}

/** A combo box with its list, which opens when it gets the focus. */
export function ComboBoxImplementation({
  label,
  hint,
  error,
  options,
  value,
  onChange,
  placeholder,
  opensOnFocus = true,
  ...props
}: ComboBoxProps) {
  const [text, setText] = useState('');
  const [isTyping, setTyping] = useState(false);
  const [shownValue, setShownValue] = useState(value);
  // A value that comes while somebody types, such as a default with the options, would replace what is typed.
  if (shownValue !== value && !isTyping) setShownValue(value);
  const items = useMemo(() => offeredOptions(options, text, shownValue), [options, text, shownValue]);
  return (
    <AriaComboBox
      {...props}
      defaultItems={items}
      selectedKey={shownValue}
      onInputChange={setText}
      onSelectionChange={(key) => {
        if (key === null) return;
        setTyping(false);
        onChange(String(key));
      }}
      onBlur={() => setTyping(false)}
      isInvalid={error !== undefined}
      validationBehavior="aria"
      menuTrigger={opensOnFocus ? 'focus' : 'input'}
      // It is open also while its options are on their way, and has them when they come.
      allowsEmptyCollection
      className={styles['field'] ?? ''}
    >
      <Label className={styles['label'] ?? ''}>{label}</Label>
      <div className={styles['combo']}>
        <Input className={styles['input'] ?? ''} placeholder={placeholder} onInput={() => setTyping(true)} />
        <Button>
          <Icon name="chevronDown" />
        </Button>
      </div>
      <FieldMessages hint={hint} error={error} />
      <KeepsText>
        <Popover className={styles['popover'] ?? ''}>
          <OptionList items={items} />
          {items.length === maxOfferedOptions && options.length > items.length && (
            <p className={styles['none']}>Type to find others of {formatCount(options.length, 'option')}.</p>
          )}
        </Popover>
      </KeepsText>
    </AriaComboBox>
  );
}
