import { type Constraint, type ConstraintOperator, ListContextFields } from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { read } from '../../api/queries.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Checkbox, ComboBox, Select, TextField } from '../../components/fields.tsx';
import { messages } from '../../messages.ts';
import { constraintPhrase } from '../../strategies/strategy-sentence.ts';
import { kindOf, localTime, operatorsFor, valuesOfText } from './constraint-values.ts';
import styles from './strategy.module.css';

interface ConstraintsEditorProps {
  readonly constraints: readonly Constraint[];
  readonly onChange: (constraints: readonly Constraint[]) => void;
}

interface ConstraintFieldsProps {
  readonly constraint: Constraint;
  readonly onChange: (constraint: Constraint) => void;
  readonly onRemove: () => void;
}

const ValueFields = ({ constraint, onChange }: Omit<ConstraintFieldsProps, 'onRemove'>) => {
  const { data: fields = [] } = useQuery({ ...read(ListContextFields, {}), staleTime: 60_000 });
  const { operator, values = [], value = '', contextName } = constraint;
  const legalValues = fields.find(({ name }) => name === contextName)?.legalValues ?? [];
  const kind = kindOf(operator);
  if (kind === 'list' && legalValues.length > 0) {
    return (
      <div className={styles['options']} role="group" aria-label={messages.strategy.values}>
        {legalValues.map(({ value: legal, description }) => (
          <Checkbox
            key={legal}
            isSelected={values.includes(legal)}
            onChange={(isSelected) =>
              onChange({
                ...constraint,
                values: isSelected ? [...values, legal] : values.filter((one) => one !== legal),
              })
            }
          >
            <span title={description ?? undefined}>{legal}</span>
          </Checkbox>
        ))}
      </div>
    );
  }
  if (kind === 'list') {
    return (
      <TextField
        label={messages.strategy.values}
        hint={messages.strategy.valuesHint(values.length)}
        rows={Math.min(6, Math.max(2, values.length))}
        value={values.join('\n')}
        onChange={(text) => onChange({ ...constraint, values: valuesOfText(text) })}
      />
    );
  }
  if (kind === 'date') {
    return (
      <TextField
        label={messages.strategy.date}
        hint={messages.strategy.dateHint(Intl.DateTimeFormat().resolvedOptions().timeZone)}
        type="datetime-local"
        value={localTime(value)}
        onChange={(text) => {
          const time = new Date(text);
          onChange({ ...constraint, value: Number.isNaN(time.getTime()) ? '' : time.toISOString() });
        }}
      />
    );
  }
  return (
    <TextField
      label={messages.strategy.value}
      hint={kind === 'version' ? messages.strategy.versionHint : undefined}
      value={value}
      onChange={(text) => onChange({ ...constraint, value: text.trim() })}
    />
  );
};

const ConstraintFields = ({ constraint, onChange, onRemove }: ConstraintFieldsProps) => {
  const { data: fields = [] } = useQuery({ ...read(ListContextFields, {}), staleTime: 60_000 });
  const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
  const known = fields.map(({ name, description }) => ({ id: name, label: name, about: description ?? undefined }));
  const names = known.some(({ id }) => id === contextName)
    ? known
    : [{ id: contextName, label: contextName }, ...known];
  const choose = (next: ConstraintOperator): void => {
    const isSameKind = kindOf(next) === kindOf(operator);
    const isText = next.startsWith('STR_');
    const { caseInsensitive: _, ...rest } = constraint;
    onChange({
      ...(isText ? constraint : rest),
      operator: next,
      ...(isSameKind ? {} : { values: [], value: '' }),
    });
  };
  return (
    <li className={styles['item']}>
      <div className={styles['row']}>
        <ComboBox
          key={names.length}
          label={messages.strategy.contextField}
          options={names.filter(({ id }) => id !== '')}
          value={contextName === '' ? null : contextName}
          onChange={(name) => {
            const [first] = operatorsFor(name);
            const fits = operatorsFor(name).includes(operator);
            onChange(
              fits || first === undefined
                ? { ...constraint, contextName: name }
                : { contextName: name, operator: first, values: [], value: '' },
            );
          }}
        />
        <Select
          label={messages.strategy.operator}
          options={[...new Set([...operatorsFor(contextName), operator])].map((one) => ({
            id: one,
            label: messages.strategy.operators[one] ?? one,
          }))}
          value={operator}
          onChange={(next) => choose(next as ConstraintOperator)}
        />
        <IconButton
          icon="remove"
          label={messages.strategy.removeConstraint(constraintPhrase(constraint))}
          onPress={onRemove}
        />
      </div>
      <ValueFields constraint={constraint} onChange={onChange} />
      <div className={styles['options']}>
        <Checkbox isSelected={inverted} onChange={(on) => onChange({ ...constraint, inverted: on })}>
          {messages.strategy.inverted}
        </Checkbox>
        {operator.startsWith('STR_') && (
          <Checkbox isSelected={caseInsensitive} onChange={(on) => onChange({ ...constraint, caseInsensitive: on })}>
            {messages.strategy.caseInsensitive}
          </Checkbox>
        )}
      </div>
    </li>
  );
};

/** The constraints of a strategy or a segment, all of which must hold. */
export const ConstraintsEditor = ({ constraints, onChange }: ConstraintsEditorProps) => (
  <section className={styles['section']} aria-labelledby="constraints">
    <div className={styles['head']}>
      <h2 id="constraints">{messages.strategy.constraints}</h2>
      <Button
        size="small"
        icon="add"
        onPress={() => onChange([...constraints, { contextName: 'userId', operator: 'IN', values: [] }])}
      >
        {messages.strategy.addConstraint}
      </Button>
    </div>
    {constraints.length === 0 && <p className={styles['muted']}>{messages.strategy.noConstraints}</p>}
    <ul className={styles['form']}>
      {constraints.map((constraint, at) => (
        <ConstraintFields
          key={at}
          constraint={constraint}
          onChange={(changed) => onChange(constraints.with(at, changed))}
          onRemove={() => onChange(constraints.toSpliced(at, 1))}
        />
      ))}
    </ul>
  </section>
);
