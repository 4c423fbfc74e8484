import { useRef } from 'react';
import { IconButton } from '../components/buttons/button.tsx';
import { type FilterChip, withoutChip } from './filter-tokens.ts';
import styles from './filter-chips.module.css';

interface FilterChipsProps {
  readonly filter: string;
  readonly chips: readonly FilterChip[];
  readonly onChange: (filter: string) => void;
  /** Takes the focus when the last chip is gone. */
  readonly onEmpty: () => void;
}

/** What the text of the filter holds, in words, each with a button that takes it out of the text. */
export function FilterChips({ filter, chips, onChange, onEmpty }: FilterChipsProps) {
  const list = useRef<HTMLUListElement>(null);
  if (chips.length === 0) return null;
  const remove = (chip: FilterChip, index: number): void => {
    // The chips behind it move up, and its button, which keeps the focus, is that of the next one.
    if (chips.length === 1) onEmpty();
    else if (index === chips.length - 1) list.current?.children[index - 1]?.querySelector('button')?.focus();
    onChange(withoutChip(filter, chip));
  };
  return (
    <ul ref={list} aria-label="Parts of the filter" className={styles['chips']}>
      {chips.map((chip, index) => (
        <li key={index} className={styles['chip']}>
          <span title={chip.label}>{chip.label}</span>
          <IconButton icon="close" size="small" label={`Remove ${chip.label}`} onPress={() => remove(chip, index)} />
        </li>
      ))}
    </ul>
  );
}
