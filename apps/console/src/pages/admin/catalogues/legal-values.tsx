import type { LegalValue } from '@bunting/contracts';
import { useState } from 'react';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import { contextMessages as text } from '../../../messages/administration/context.ts';
import { ImportValues } from '../../strategy/constraints/import-values.tsx';
import layout from '../../../components/layout/layout.module.css';
import styles from '../admin.module.css';

interface LegalValuesProps {
  readonly values: readonly LegalValue[];
  readonly onChange: (values: readonly LegalValue[]) => void;
}

/** Maximum rows until the user expands the list: a thousand of them take a second to draw. */
const maxShown = 50;

/** The legal values of a context field, each with what it stands for. A list can be added from a file. */
export const LegalValues = ({ values, onChange }: LegalValuesProps) => {
  const [isWhole, setWhole] = useState(false);
  const shown = isWhole ? values : values.slice(0, maxShown);
  const edit = (at: number, changed: Partial<LegalValue>): void =>
    onChange(values.with(at, { ...(values[at] as LegalValue), ...changed }));
  const add = (added: readonly string[]): void => {
    const known = new Set(values.map(({ value }) => value));
    onChange([...values, ...added.filter((value) => !known.has(value)).map((value) => ({ value, description: null }))]);
  };
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>{text.legalValues}</legend>
      <p className={layout['small']}>{text.legalValuesHint}</p>
      <ul className={styles['rows']}>
        {shown.map(({ value, description }, at) => (
          <li key={at}>
            <TextField label={text.value} value={value} onChange={(changed) => edit(at, { value: changed })} />
            <TextField
              label={text.valueDescription}
              value={description ?? ''}
              onChange={(changed) => edit(at, { description: changed })}
            />
            <IconButton
              icon="remove"
              label={text.removeValue(value)}
              onPress={() => onChange(values.toSpliced(at, 1))}
            />
          </li>
        ))}
      </ul>
      <div className={layout['inline']}>
        {shown.length < values.length && (
          <Button size="small" onPress={() => setWhole(true)}>
            {text.showAll(values.length)}
          </Button>
        )}
        <Button
          size="small"
          icon="add"
          onPress={() => {
            setWhole(true);
            onChange([...values, { value: '', description: null }]);
          }}
        >
          {text.addValue}
        </Button>
        <ImportValues onImport={add} />
      </div>
    </fieldset>
  );
};
