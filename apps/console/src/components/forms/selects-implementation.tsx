import { type ReactNode, type RefObject, use, useMemo, useRef, useState } from 'react';
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

interface FollowingPopoverProps {
  readonly field: RefObject<HTMLElement | null>;
  readonly children: ReactNode;
}

/**
 * What opens below a combo box. React Aria closes it when the page scrolls, also when the page scrolls because the field
 * gets the focus, and puts the chosen option back in place of what is typed. This one follows its field as long as that is
 * seen, and keeps what is typed.
 */
function FollowingPopover({ field, children }: FollowingPopoverProps) {
  const state = use(ComboBoxStateContext);
  const [scrolls, setScrolls] = useState(0);
  const close = () => {
    if (isSeen(field.current)) setScrolls(scrolls + 1);
    else state?.setOpen(false);
  };
  return (
    <OverlayTriggerStateContext value={state && { ...state, close }}>
      {/* It is placed anew when a property of its place changes; it has no arrow that this one would place. */}
      <Popover className={styles['popover'] ?? ''} arrowBoundaryOffset={scrolls}>
        {children}
      </Popover>
    </OverlayTriggerStateContext>
  );
}

/** Whether the middle of an element is not scrolled out of view. */
function isSeen(element: HTMLElement | null) {
  if (element === null) return false;
  const { left, top, width, height } = element.getBoundingClientRect();
  return document.elementsFromPoint(left + width / 2, top + height / 2).includes(element);
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
  const field = useRef<HTMLInputElement>(null);
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
        <Input
          ref={field}
          className={styles['input'] ?? ''}
          placeholder={placeholder}
          onInput={() => setTyping(true)}
        />
        <Button>
          <Icon name="chevronDown" />
        </Button>
      </div>
      <FieldMessages hint={hint} error={error} />
      <FollowingPopover field={field}>
        <OptionList items={items} />
        {items.length === maxOfferedOptions && options.length > items.length && (
          <p className={styles['none']}>Type to find others of {formatCount(options.length, 'option')}.</p>
        )}
      </FollowingPopover>
    </AriaComboBox>
  );
}
