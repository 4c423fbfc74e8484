import { useId, useImperativeHandle, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { filterTokensOf, type InvalidTextToken } from './filter-tokens.ts';
import type { Suggestion } from './filter-suggestions.ts';
import { IconButton } from '../components/buttons/button.tsx';
import { Icon } from '../components/content/icon.tsx';
import { formatNumber } from '../text/format-number.ts';
import styles from './filter-combo-box.module.css';

export interface FilterComboBoxHandle {
  focus(): void;
  /** Begins a further part of the filter, such as `type:`, and offers what can follow. */
  begin(part: string): void;
}

interface FilterComboBoxProps {
  readonly label: string;
  /** an example of a filter */
  readonly hint: string;
  readonly value: string;
  readonly onChange: (filter: string) => void;
  readonly errors: readonly InvalidTextToken[];
  readonly suggest: (filter: string, caret: number) => readonly Suggestion[];
  /** Called when the field gets the focus, so that the page can read what suggestions need. */
  readonly onFocus: () => void;
  readonly handle: React.Ref<FilterComboBoxHandle>;
}

/** The filter as text, with suggestions at the caret. Arrow keys choose one, Enter or Tab takes it. */
export function FilterComboBox({
  label: name,
  hint,
  value,
  onChange,
  errors,
  suggest,
  onFocus,
  handle,
}: FilterComboBoxProps) {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [chosenIndex, setChosenIndex] = useState(-1);
  const listId = useId();
  const errorsId = useId();
  const suggestions = isOpen ? suggest(value, caret) : [];
  const activeIndex = Math.min(chosenIndex, suggestions.length - 1);
  // What is being completed is no fault yet.
  const tokenAtCaret = filterTokensOf(value).find(({ start, end }) => start <= caret && caret <= end)?.text;
  const shownErrors = suggestions.length > 0 ? errors.filter(({ token }) => token !== tokenAtCaret) : errors;

  const set = (filter: string, at: number): void => {
    // The value is written at once, which moves the caret to its end, so that the next key finds the caret where it belongs.
    flushSync(() => {
      onChange(filter);
      setChosenIndex(-1);
      setCaret(at);
      setOpen(true);
    });
    input.current?.focus();
    input.current?.setSelectionRange(at, at);
  };
  const accept = (index: number): void => {
    const suggestion = suggestions[index];
    if (suggestion !== undefined) set(suggestion.filter, suggestion.caret);
  };
  useImperativeHandle(handle, () => ({
    focus: () => input.current?.focus(),
    begin: (part) => {
      const filter = `${value.trimEnd()} ${part}`.trimStart();
      set(filter, filter.length);
    },
  }));
  const clear = (): void => {
    input.current?.focus();
    onChange('');
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const { key } = event;
    if (key === 'ArrowDown' && suggestions.length > 0) setChosenIndex((activeIndex + 1) % suggestions.length);
    else if (key === 'ArrowUp' && suggestions.length > 0)
      setChosenIndex((activeIndex - 1 + suggestions.length) % suggestions.length);
    else if ((key === 'Enter' || key === 'Tab') && activeIndex >= 0) accept(activeIndex);
    else if (key === 'Escape' && isOpen && suggestions.length > 0) setOpen(false);
    else if (key === 'Escape' || key === 'Enter') return input.current?.blur();
    else return;
    event.preventDefault();
  };
  return (
    <div className={styles['filter']}>
      <div className={styles['filterBox']}>
        <Icon name="filter" />
        <input
          ref={input}
          role="combobox"
          aria-label={name}
          aria-expanded={suggestions.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-describedby={errorsId}
          aria-invalid={shownErrors.length > 0}
          {...(activeIndex >= 0 ? { 'aria-activedescendant': `${listId}-${activeIndex}` } : {})}
          placeholder={hint}
          value={value}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={({ target }) => {
            onChange(target.value);
            setCaret(target.selectionStart ?? target.value.length);
            setOpen(true);
            setChosenIndex(-1);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
          onFocus={() => {
            onFocus();
            setOpen(true);
          }}
          onBlur={() => {
            setOpen(false);
            setChosenIndex(-1);
          }}
          onKeyDown={onKeyDown}
        />
        {value !== '' && <IconButton icon="close" size="small" label="Clear the filter" onPress={clear} />}
      </div>
      <div
        id={listId}
        role="listbox"
        aria-label="Suggestions"
        hidden={suggestions.length === 0}
        className={styles['suggestions']}
      >
        {suggestions.map(({ label, count }, index) => (
          <div
            key={label}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === activeIndex}
            className={styles['suggestion']}
            // The input keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => accept(index)}
            onKeyDown={onKeyDown}
          >
            <span>{label}</span>
            {count !== undefined && <span className={styles['count']}>{formatNumber(count)}</span>}
          </div>
        ))}
      </div>
      <p id={errorsId} role="status" className={styles['faults']}>
        {shownErrors.map(({ token, reason }) => `${token}: ${reason}.`).join(' ')}
      </p>
    </div>
  );
}
