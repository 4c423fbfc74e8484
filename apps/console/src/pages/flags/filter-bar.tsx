import { ListFeatureTypes, ListSegments, ListTags } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useId, useImperativeHandle, useRef, useState } from 'react';
import { read, useProjects } from '../../api/queries.ts';
import { IconButton } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import { messages } from '../../messages.ts';
import { type FilterFault, suggestionsFor } from './filter.ts';
import styles from './flags.module.css';

export interface FilterBarHandle {
  focus(): void;
}

interface FilterBarProps {
  readonly value: string;
  readonly onChange: (filter: string) => void;
  readonly faults: readonly FilterFault[];
  readonly environments: readonly string[];
  readonly handle: React.Ref<FilterBarHandle>;
}

const useVocabulary = (environments: readonly string[], isNeeded: boolean) => {
  const options = { enabled: isNeeded, staleTime: 60_000 };
  const { data: types } = useQuery({ ...read(ListFeatureTypes, {}), ...options });
  const { data: tags } = useQuery({ ...read(ListTags, {}), ...options });
  const { data: segments } = useQuery({ ...read(ListSegments, {}), ...options });
  const { data: projects } = useProjects();
  return {
    environments,
    types: (types?.types ?? []).map(({ id }) => id),
    tags: (tags?.tags ?? []).map(({ type, value }) => `${type}:${value}`),
    segments: (segments?.segments ?? []).map(({ name }) => name),
    projects: (projects?.projects ?? []).map(({ id }) => id),
  };
};

/** The filter as text, with suggestions at the caret. Arrow keys choose one, Enter or Tab takes it. */
export const FilterBar = ({ value, onChange, faults, environments, handle }: FilterBarProps) => {
  const input = useRef<HTMLInputElement>(null);
  const [caret, setCaret] = useState(0);
  const [isOpen, setOpen] = useState(false);
  const [chosen, setChosen] = useState(-1);
  const [wasFocused, setWasFocused] = useState(false);
  const listId = useId();
  const faultsId = useId();
  const vocabulary = useVocabulary(environments, wasFocused);
  const suggestions = isOpen ? suggestionsFor(value, caret, vocabulary) : [];
  const active = Math.min(chosen, suggestions.length - 1);
  useImperativeHandle(handle, () => ({ focus: () => input.current?.focus() }), []);

  const take = (index: number): void => {
    const suggestion = suggestions[index];
    if (suggestion === undefined) return;
    onChange(suggestion.filter);
    setChosen(-1);
    setCaret(suggestion.caret);
    // After React has written the value, which moves the caret to its end.
    requestAnimationFrame(() => {
      input.current?.focus();
      input.current?.setSelectionRange(suggestion.caret, suggestion.caret);
    });
  };
  const onKeyDown = (event: React.KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    const { key } = event;
    if (key === 'ArrowDown' && suggestions.length > 0) setChosen((active + 1) % suggestions.length);
    else if (key === 'ArrowUp' && suggestions.length > 0)
      setChosen((active - 1 + suggestions.length) % suggestions.length);
    else if ((key === 'Enter' || key === 'Tab') && active >= 0) take(active);
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
          aria-label={messages.flags.filter}
          aria-expanded={suggestions.length > 0}
          aria-controls={listId}
          aria-autocomplete="list"
          aria-describedby={faultsId}
          aria-invalid={faults.length > 0}
          {...(active >= 0 ? { 'aria-activedescendant': `${listId}-${active}` } : {})}
          placeholder={messages.flags.filterHint}
          value={value}
          autoComplete="off"
          autoCapitalize="off"
          spellCheck={false}
          onChange={({ target }) => {
            onChange(target.value);
            setCaret(target.selectionStart ?? target.value.length);
            setOpen(true);
            setChosen(-1);
          }}
          onSelect={({ currentTarget }) => setCaret(currentTarget.selectionStart ?? 0)}
          onFocus={() => {
            setWasFocused(true);
            setOpen(true);
          }}
          onBlur={() => {
            setOpen(false);
            setChosen(-1);
          }}
          onKeyDown={onKeyDown}
        />
        {value !== '' && (
          <IconButton icon="close" size="small" label={messages.flags.clear} onPress={() => onChange('')} />
        )}
      </div>
      <div
        id={listId}
        role="listbox"
        aria-label={messages.flags.suggestions}
        hidden={suggestions.length === 0}
        className={styles['suggestions']}
      >
        {suggestions.map(({ label }, index) => (
          <div
            key={label}
            id={`${listId}-${index}`}
            role="option"
            tabIndex={-1}
            aria-selected={index === active}
            className={styles['suggestion']}
            // The input keeps the focus.
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => take(index)}
            onKeyDown={onKeyDown}
          >
            {label}
          </div>
        ))}
      </div>
      <p id={faultsId} role="status" className={styles['faults']}>
        {faults.map(({ token, reason }) => messages.flags.fault(token, reason)).join(' ')}
      </p>
    </div>
  );
};
