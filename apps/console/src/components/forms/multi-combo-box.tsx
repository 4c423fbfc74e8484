import { useState } from 'react';
import { IconButton } from '../buttons/button.tsx';
import type { SelectOption } from './fields.tsx';
import { ComboBox } from './selects.tsx';
import styles from '../resources/resource.module.css';

interface MultiComboBoxProps {
  readonly label: string;
  readonly hint?: string;
  /** why what is chosen is not accepted */
  readonly error?: string | undefined;
  readonly options: readonly SelectOption[];
  readonly value: readonly string[];
  /** what is said beside a chosen option */
  readonly noteOf?: (id: string) => string | undefined;
  readonly onChange: (value: readonly string[]) => void;
  /** shown while nothing is chosen; says what that means */
  readonly emptyText: string;
}

/** A combo box of which several options are chosen: found by typing, listed below as chips, and removed one by one. */
export function MultiComboBox({ label, hint, error, options, value, noteOf, onChange, emptyText }: MultiComboBoxProps) {
  const labelOf = (id: string): string => options.find((option) => option.id === id)?.label ?? id;
  const [hasChanged, setChanged] = useState(false);
  const change = (changed: readonly string[]): void => {
    setChanged(true);
    onChange(changed);
  };
  return (
    <div className={styles['pick']}>
      <ComboBox
        // A new key resets the combo box after a choice: the chosen option leaves the list, and the search text leaves the field, which keeps
        // the focus for the next one.
        key={value.join()}
        autoFocus={hasChanged}
        opensOnFocus={!hasChanged}
        label={label}
        {...(hint === undefined ? {} : { hint })}
        error={error}
        options={options.filter(({ id }) => !value.includes(id))}
        value={null}
        onChange={(id) => change([...value, id])}
      />
      {value.length === 0 ? (
        <p className={styles['hint']}>{emptyText}</p>
      ) : (
        <ul aria-label={label} className={styles['chips']}>
          {value.map((id) => (
            <li key={id}>
              <bdi>{labelOf(id)}</bdi>
              {noteOf?.(id) !== undefined && <span className={styles['hint']}>{noteOf(id)}</span>}
              <IconButton
                icon="close"
                size="small"
                label={`Remove ${labelOf(id)}`}
                onPress={() => change(value.filter((chosenId) => chosenId !== id))}
              />
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
