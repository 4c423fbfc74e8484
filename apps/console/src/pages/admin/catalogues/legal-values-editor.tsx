import type { LegalValue } from '@bunting/contracts';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { ImportValues } from '../../strategy/import-values.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

interface LegalValuesEditorProps {
  readonly values: readonly LegalValue[];
  readonly onChange: (values: readonly LegalValue[]) => void;
}

/** The maximum number of rows until the user expands the list: the browser needs a second to draw a thousand. */
const maxShown = 50;

/** The editor of the legal values of a context field, each with a description. Values can also be imported from a file. */
export const LegalValuesEditor = ({ values, onChange }: LegalValuesEditorProps) => {
  const [isExpanded, setExpanded] = useState(false);
  const shownValues = isExpanded ? values : values.slice(0, maxShown);
  const edit = (index: number, changed: Partial<LegalValue>): void =>
    onChange(values.with(index, { ...(values[index] as LegalValue), ...changed }));
  const add = (added: readonly string[]): void => {
    const existing = new Set(values.map(({ value }) => value));
    onChange([
      ...values,
      ...added.filter((value) => !existing.has(value)).map((value) => ({ value, description: null })),
    ]);
  };
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>Legal values</legend>
      <p className={layout['small']}>The only values that constraints can compare it with. None: any.</p>
      <ul className={styles['rows']}>
        {shownValues.map(({ value, description }, index) => (
          <li key={index}>
            <TextField label="Value" value={value} onChange={(changed) => edit(index, { value: changed })} />
            <TextField
              label="What it stands for"
              value={description ?? ''}
              onChange={(changed) => edit(index, { description: changed })}
            />
            <IconButton
              icon="remove"
              label={`Remove the value ${value}`}
              onPress={() => onChange(values.toSpliced(index, 1))}
            />
          </li>
        ))}
      </ul>
      <div className={layout['inline']}>
        {shownValues.length < values.length && (
          <Button size="small" onPress={() => setExpanded(true)}>
            Show all {values.length}
          </Button>
        )}
        <Button
          size="small"
          icon="add"
          onPress={() => {
            setExpanded(true);
            onChange([...values, { value: '', description: null }]);
          }}
        >
          Add a value
        </Button>
        <ImportValues onImport={add} />
      </div>
    </fieldset>
  );
};
