import { Suspense, useEffect, useId, useRef, useState } from 'react';
import { Button as AriaButton } from 'react-aria-components/Button';
import { Label } from 'react-aria-components';
import type { ChoiceProps, ComboBoxProps } from './fields.tsx';
import type * as implementationModule from './selects-implementation.tsx';
import { optionTyped } from './offered-options.ts';
import { Icon } from '../content/icon.tsx';
import styles from './field.module.css';
import { lazyPart } from '../content/lazy-part.tsx';

// The lists of these fields, with what places them, take more than half of what a page may load, so they are loaded when one of the fields
// gets the focus. Until then a select is a button, and a combo box an input, that keep what is typed.

type Implementation = typeof implementationModule;

let implementation: Implementation | undefined;
async function loadImplementation(): Promise<Implementation> {
  return (implementation ??= await import('./selects-implementation.tsx'));
}
/** Loads ahead: a failure is reported by what needs it. */
function preload(): void {
  loadImplementation().catch(() => undefined);
}

const SelectList = lazyPart(() => loadImplementation().then(({ SelectList: list }) => list));

interface SelectProps extends ChoiceProps {
  /** for a cell of a table, whose row and column say what it is: the label is read, and not seen */
  readonly isLabelHidden?: boolean;
}

function Messages({ id, hint, error }: { readonly id: string } & Pick<ChoiceProps, 'hint' | 'error'>) {
  return (
    <>
      {hint !== undefined && (
        <span id={`${id}-hint`} className={styles['hint']}>
          {hint}
        </span>
      )}
      {error !== undefined && (
        <span id={`${id}-error`} className={styles['error']}>
          {error}
        </span>
      )}
    </>
  );
}

/** What a screen reader reads with a field that has `Messages` of this id. */
function describedBy(id: string, hint: unknown, error: unknown): { readonly 'aria-describedby'?: string } {
  const ids = [...(hint === undefined ? [] : [`${id}-hint`]), ...(error === undefined ? [] : [`${id}-error`])];
  return ids.length === 0 ? {} : { 'aria-describedby': ids.join(' ') };
}

/** Letters that follow each other within a second are one search. */
const typingPauseMs = 1_000;

/**
 * A choice of one of a few options, which are shown when it is opened. Closed, it takes the next option that begins with the letters typed,
 * and left and right take the one before and after.
 */
export function Select({
  label,
  isLabelHidden = false,
  hint,
  error,
  options,
  value,
  onChange,
  isDisabled = false,
  placeholder = 'Choose',
  autoFocus = false,
}: SelectProps) {
  const id = useId();
  const trigger = useRef<HTMLButtonElement>(null);
  const [opensAt, setOpensAt] = useState<'first' | 'last'>();
  const typed = useRef({ letters: '', at: 0 });
  const chosenIndex = options.findIndex((option) => option.id === value);
  const isOpen = opensAt !== undefined;

  const onKeyDown = (event: React.KeyboardEvent): void => {
    const { key, ctrlKey, metaKey, altKey, timeStamp } = event;
    const take = (option: { readonly id: string } | undefined): void => {
      event.preventDefault();
      // It is no key of the page, and a blank in a search no press.
      event.stopPropagation();
      if (option !== undefined && option.id !== value) onChange(option.id);
    };
    if (key === 'ArrowDown' || key === 'ArrowUp') {
      event.preventDefault();
      return setOpensAt(key === 'ArrowDown' ? 'first' : 'last');
    }
    if (key === 'ArrowLeft') return take(options[chosenIndex < 0 ? 0 : chosenIndex - 1]);
    if (key === 'ArrowRight') return take(options[chosenIndex + 1]);
    const before = timeStamp - typed.current.at > typingPauseMs ? '' : typed.current.letters;
    // A blank that is no part of a search presses the button.
    if ([...key].length > 1 || ctrlKey || metaKey || altKey || (key === ' ' && before === '')) return;
    const option = optionTyped(options, before + key, value);
    typed.current = { letters: option === undefined ? '' : before + key, at: timeStamp };
    if (option !== undefined) take(option);
  };

  return (
    <div className={styles['field']} data-invalid={error === undefined ? undefined : true}>
      <Label
        elementType="span"
        id={`${id}-label`}
        className={isLabelHidden ? 'visually-hidden' : (styles['label'] ?? '')}
        onClick={() => trigger.current?.focus()}
      >
        {label}
      </Label>
      <div role="presentation" onKeyDownCapture={onKeyDown}>
        <AriaButton
          ref={trigger}
          aria-haspopup="listbox"
          aria-expanded={isOpen}
          aria-labelledby={`${id}-value ${id}-label`}
          {...describedBy(id, hint, error)}
          isDisabled={isDisabled}
          autoFocus={autoFocus}
          onFocus={preload}
          onHoverStart={preload}
          onPress={() => setOpensAt('first')}
          className={`${styles['input']} ${styles['select']}`}
        >
          <span id={`${id}-value`}>{options[chosenIndex]?.label ?? placeholder}</span>
          <Icon name="chevronDown" />
        </AriaButton>
      </div>
      <Messages id={id} hint={hint} error={error} />
      <Suspense>
        {isOpen && (
          <SelectList
            labelId={`${id}-label`}
            options={options}
            value={value}
            focus={opensAt}
            trigger={trigger}
            onChoose={onChange}
            onClose={() => setOpensAt(undefined)}
          />
        )}
      </Suspense>
    </div>
  );
}

/** Enters a text as a user does. */
function enter(input: HTMLInputElement, text: string): void {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')?.set?.call(input, text);
  input.dispatchEvent(new Event('input', { bubbles: true }));
}

/** A choice of one of many options, which the user finds by typing. */
export function ComboBox(props: ComboBoxProps) {
  const { label, hint, error, options, value, placeholder, isDisabled = false, autoFocus = false } = props;
  const id = useId();
  const [loaded, setLoaded] = useState(implementation);
  const [isReplaced, setReplaced] = useState(implementation !== undefined);
  const [text, setText] = useState<string>();
  const [isComposing, setComposing] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const successor = useRef<HTMLDivElement>(null);
  const load = (): void => void loadImplementation().then(setLoaded, () => undefined);
  const Implementation = loaded?.ComboBoxImplementation;

  useEffect(() => {
    if (autoFocus) input.current?.focus();
  }, [autoFocus]);
  useEffect(() => {
    if (Implementation === undefined || isReplaced || isComposing) return;
    const [next, hadFocus] = [successor.current, document.activeElement === input.current];
    const nextInput = next?.querySelector('input');
    if (next == null || nextInput == null) return;
    // The one is shown and gets the focus before the other goes: no key is lost between them.
    next.hidden = false;
    if (hadFocus) nextInput.focus();
    if (text !== undefined) enter(nextInput, text);
    setReplaced(true);
  }, [Implementation, isReplaced, isComposing, text]);

  return (
    <>
      {!isReplaced && (
        <div className={styles['field']} data-invalid={error === undefined ? undefined : true}>
          <label htmlFor={id} className={styles['label']}>
            {label}
          </label>
          <div className={styles['combo']}>
            <input
              ref={input}
              id={id}
              role="combobox"
              aria-expanded={false}
              aria-controls={`${id}-list`}
              aria-haspopup="listbox"
              aria-autocomplete="list"
              {...describedBy(id, hint, error)}
              {...(error !== undefined && { 'aria-invalid': true })}
              autoComplete="off"
              spellCheck={false}
              disabled={isDisabled}
              placeholder={placeholder}
              className={styles['input']}
              value={text ?? options.find((option) => option.id === value)?.label ?? ''}
              onChange={({ target }) => setText(target.value)}
              onCompositionStart={() => setComposing(true)}
              onCompositionEnd={() => setComposing(false)}
              onFocus={load}
              onPointerEnter={preload}
              // Nothing is chosen yet: it must not send the form.
              onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
            />
            <button
              type="button"
              tabIndex={-1}
              aria-label={`Show the options of ${label}`}
              disabled={isDisabled}
              onClick={() => input.current?.focus()}
            >
              <Icon name="chevronDown" />
            </button>
          </div>
          <Messages id={id} hint={hint} error={error} />
        </div>
      )}
      {Implementation !== undefined && (
        <div ref={successor} hidden={!isReplaced} className={styles['successor']}>
          <Implementation {...props} />
        </div>
      )}
    </>
  );
}
