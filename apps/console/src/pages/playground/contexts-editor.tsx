import { ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { parseContext, contextSuggestionsAt } from './context-text.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

/** The maximum number of contexts in one request. */
const maxContexts = 50;

/** Fields that every context can have, besides the context fields of the installation. */
const standardFields = ['userId', 'sessionId', 'remoteAddress', 'appName', 'currentTime'];

interface ContextsEditorProps {
  /** the contexts as text, one on each line */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** The editor of contexts: as rows with suggestions, or as a text into which others can be pasted. */
export const ContextsEditor = ({ value, onChange }: ContextsEditorProps) => {
  const [isText, setIsText] = useState(false);
  const { data: definedFields = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const handle = useRef<FilterComboBoxHandle>(null);
  const fields = [
    ...definedFields.map(({ name, legalValues = [] }) => ({
      name,
      legalValues: legalValues.map((legal) => legal.value),
    })),
    ...standardFields
      .filter((name) => !definedFields.some((field) => field.name === name))
      .map((name) => ({ name, legalValues: [] })),
  ];
  const lines = value.split('\n');
  const errors = lines.flatMap((line) => parseContext(line).errors);
  return (
    <div className={styles['group']} role="group" aria-label="Contexts">
      <div className={styles['head']}>
        <h2>Contexts</h2>
        <Button size="small" variant="quiet" onPress={() => setIsText(!isText)}>
          {isText ? 'As rows' : 'As text'}
        </Button>
      </div>
      {isText ? (
        <TextField
          label="Contexts"
          rows={Math.min(12, Math.max(4, lines.length))}
          value={value}
          onChange={onChange}
          placeholder="userId=ann,bob region=eu"
          {...(errors[0] === undefined ? {} : { error: `${errors[0].token}: ${errors[0].reason}` })}
        />
      ) : (
        <div className={styles['contexts']}>
          {lines.map((line, index) => (
            <div key={index} className={styles['contextRow']}>
              <FilterComboBox
                label={`Context ${index + 1}`}
                hint="userId=ann,bob region=eu"
                value={line}
                onChange={(changed) => onChange(lines.with(index, changed).join('\n'))}
                errors={parseContext(line).errors}
                suggest={(typed, caret) => contextSuggestionsAt(typed, caret, fields)}
                onFocus={() => undefined}
                handle={index === lines.length - 1 ? handle : null}
              />
              {lines.length > 1 && (
                <IconButton
                  icon="remove"
                  label={`Remove context ${index + 1}`}
                  onPress={() => onChange(lines.toSpliced(index, 1).join('\n'))}
                />
              )}
            </div>
          ))}
          <div>
            <Button
              size="small"
              icon="add"
              isDisabled={lines.length >= maxContexts}
              onPress={() => {
                onChange(`${value}\n`);
                requestAnimationFrame(() => handle.current?.focus());
              }}
            >
              Add a context
            </Button>
          </div>
        </div>
      )}
      <p className={layout['small']}>
        One user or request on each line. Values with commas between them are tried one by one.
      </p>
    </div>
  );
};
