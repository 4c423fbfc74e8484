import { ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { operationQuery } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { TextField } from '../../components/forms/fields.tsx';
import { FilterComboBox, type FilterComboBoxHandle } from '../../filtering/filter-combo-box.tsx';
import { playgroundMessages as text } from '../../messages/playground.ts';
import { parseContext, suggestContext } from './context-text.ts';
import layout from '../../components/layout/layout.module.css';
import styles from './playground.module.css';

/** Contexts of one request. */
const maxContexts = 50;

/** Fields that SDKs set by themselves, beside those that are defined. */
const standardFields = ['userId', 'sessionId', 'remoteAddress', 'appName', 'currentTime'];

interface ContextsFieldProps {
  /** one on each line */
  readonly value: string;
  readonly onChange: (value: string) => void;
}

/** Contexts as rows with completion, or as text to paste into. */
export const ContextsField = ({ value, onChange }: ContextsFieldProps) => {
  const [isText, setText] = useState(false);
  const { data: defined = [] } = useQuery({ ...operationQuery(ListContextFields, {}), staleTime: 60_000 });
  const handle = useRef<FilterComboBoxHandle>(null);
  const fields = [
    ...defined.map(({ name, legalValues = [] }) => ({ name, legalValues: legalValues.map((legal) => legal.value) })),
    ...standardFields
      .filter((name) => !defined.some((field) => field.name === name))
      .map((name) => ({ name, legalValues: [] })),
  ];
  const lines = value.split('\n');
  const errors = lines.flatMap((line) => parseContext(line).errors);
  return (
    <div className={styles['group']} role="group" aria-label={text.contexts}>
      <div className={styles['head']}>
        <h2>{text.contexts}</h2>
        <Button size="small" variant="quiet" onPress={() => setText(!isText)}>
          {isText ? text.asRows : text.asText}
        </Button>
      </div>
      {isText ? (
        <TextField
          label={text.contexts}
          rows={Math.min(12, Math.max(4, lines.length))}
          value={value}
          onChange={onChange}
          placeholder={text.contextHint}
          {...(errors[0] === undefined ? {} : { error: `${errors[0].token}: ${errors[0].reason}` })}
        />
      ) : (
        <div className={styles['contexts']}>
          {lines.map((line, nth) => (
            <div key={nth} className={styles['contextRow']}>
              <FilterComboBox
                label={text.contextLabel(nth + 1)}
                hint={text.contextHint}
                value={line}
                onChange={(changed) => onChange(lines.with(nth, changed).join('\n'))}
                errors={parseContext(line).errors}
                suggest={(typed, caret) => suggestContext(typed, caret, fields)}
                onFocus={() => undefined}
                handle={nth === lines.length - 1 ? handle : null}
              />
              {lines.length > 1 && (
                <IconButton
                  icon="remove"
                  label={text.removeContext(nth + 1)}
                  onPress={() => onChange(lines.toSpliced(nth, 1).join('\n'))}
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
              {text.addContext}
            </Button>
          </div>
        </div>
      )}
      <p className={layout['small']}>{text.contextsHelp}</p>
    </div>
  );
};
