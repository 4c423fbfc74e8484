import {
  type Constraint,
  type ConstraintOperator,
  GetUiConfig,
  type LegalValue,
  ListContextFields,
  constraintPhrase,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { memo, Suspense, useCallback, useEffect, useId, useRef } from 'react';
import { operationQuery } from '../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../components/buttons/button.tsx';
import { Checkbox, TextField } from '../../components/forms/fields.tsx';
import { MultiComboBox } from '../../components/forms/multi-combo-box.tsx';
import { ComboBox, Select } from '../../components/forms/selects.tsx';
import {
  lacksValue,
  valueKindOf,
  localTime,
  operatorsFor,
  operatorsOfSignals,
  valuesOfText,
} from './strategy-inputs.ts';
import fieldStyles from '../../components/forms/field.module.css';
import layout from '../../components/layout/layout.module.css';
import styles from './strategy.module.css';
import type { ValueQuestion } from './use-value-question.ts';
import { formatCount, formatNumber } from '../../text/format-number.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const texts = {
  valueHints: {
    pattern:
      'A regular expression of RE2, without slashes around it. It is searched for anywhere unless it has ^ and $.',
    version: 'A semantic version, such as 1.4.0.',
  },
  operators: {
    IN: 'is one of',
    NOT_IN: 'is none of',
    STR_CONTAINS: 'contains',
    STR_ENDS_WITH: 'ends with',
    STR_STARTS_WITH: 'starts with',
    NUM_EQ: '= (number)',
    NUM_GT: '> (number)',
    NUM_GTE: '≥ (number)',
    NUM_LT: '< (number)',
    NUM_LTE: '≤ (number)',
    DATE_AFTER: 'is after',
    DATE_BEFORE: 'is before',
    SEMVER_EQ: '= (version)',
    SEMVER_GT: '> (version)',
    SEMVER_GTE: '≥ (version)',
    SEMVER_LT: '< (version)',
    SEMVER_LTE: '≤ (version)',
    REGEX: 'matches (regular expression)',
  } as Readonly<Record<string, string>>,
} as const;

/** Whether an operator has the option to ignore upper and lower case. */
function canIgnoreCase(operator: ConstraintOperator): boolean {
  return operator === 'REGEX' || operator.startsWith('STR_');
}

const ImportValues = lazyPart(() => import('./import-values.tsx').then(({ ImportValues }) => ImportValues));

const TriedValues = lazyPart(() => import('./tried-values.tsx').then(({ TriedValues }) => TriedValues));

interface ConstraintsEditorProps {
  /** whether they are filters of signals: a path takes the place of a context field */
  readonly isOfSignals?: boolean;
  readonly constraints: readonly Constraint[];
  /** asks for the values that they lack, when they are to be saved */
  readonly question?: ValueQuestion;
  /** what is said beside each constraint, if anything */
  readonly notes?: readonly (string | undefined)[];
  /** shown without a constraint, in place of a sentence */
  readonly whenEmpty?: React.ReactNode;
  readonly onChange: (constraints: readonly Constraint[]) => void;
}

/** More legal values than this are found by typing. */
const maxListedLegalValues = 12;

interface LegalValuesProps {
  readonly legalValues: readonly LegalValue[];
  readonly values: readonly string[];
  readonly error: string | undefined;
  readonly onChange: (values: readonly string[]) => void;
}

/** A choice among the legal values of a context field. A value that is not legal any more can be seen, and removed. */
function LegalValues({ legalValues, values, error, onChange }: LegalValuesProps) {
  const errorId = useId();
  const illegal = values.filter((value) => !legalValues.some((legal) => legal.value === value));
  if (legalValues.length > maxListedLegalValues)
    return (
      <MultiComboBox
        label="Values"
        hint={`Find values by typing: there are ${formatNumber(legalValues.length)} legal ones.`}
        error={error}
        options={legalValues.map(({ value, description }) => ({
          id: value,
          label: value,
          description: description ?? undefined,
        }))}
        value={values}
        noteOf={(value) => (illegal.includes(value) ? notLegal : undefined)}
        onChange={onChange}
        emptyText="No value is chosen yet."
      />
    );
  const listed = [
    ...legalValues.map(({ value, description }) => ({ value, description, note: '' })),
    ...illegal.map((value) => ({ value, description: undefined, note: ` (${notLegal})` })),
  ];
  return (
    <div className={styles['options']} role="group" aria-label="Values" aria-describedby={error && errorId}>
      {listed.map(({ value, description, note }) => (
        <Checkbox
          key={value}
          isSelected={values.includes(value)}
          isInvalid={error !== undefined}
          onChange={(isSelected) =>
            onChange(isSelected ? [...values, value] : values.filter((other) => other !== value))
          }
        >
          <span title={description ?? undefined}>
            {value}
            {note}
          </span>
        </Checkbox>
      ))}
      {error !== undefined && (
        <span id={errorId} className={fieldStyles['error']}>
          {error}
        </span>
      )}
    </div>
  );
}
const notLegal = 'not legal any more';

interface ValueFieldsProps {
  readonly isOfSignals: boolean;
  readonly constraint: Constraint;
  readonly asksForValue: boolean;
  readonly onChange: (constraint: Constraint) => void;
}

function ValueFields({ isOfSignals, constraint, asksForValue, onChange }: ValueFieldsProps) {
  const { data: fields = [] } = useQuery({
    ...operationQuery(ListContextFields, {}),
    staleTime: 60_000,
    enabled: !isOfSignals,
  });
  const { operator, values = [], value = '', contextName } = constraint;
  const legalValues = isOfSignals ? [] : (fields.find(({ name }) => name === contextName)?.legalValues ?? []);
  const kind = valueKindOf(operator);
  const error = asksForValue && lacksValue(constraint) ? 'Enter a value.' : undefined;
  const triedValues = !isOfSignals && kind !== 'pattern' && (
    <Suspense>
      <TriedValues constraint={constraint} legalValues={legalValues} onChange={onChange} />
    </Suspense>
  );
  if (kind === 'list' && legalValues.length > 0) {
    return (
      <>
        <LegalValues
          legalValues={legalValues}
          values={values}
          error={error}
          onChange={(chosen) => onChange({ ...constraint, values: [...chosen] })}
        />
        {legalValues.length > maxListedLegalValues && triedValues}
      </>
    );
  }
  if (kind === 'list') {
    return (
      <>
        <TextField
          label="Values"
          hint={`One on each line, or pasted from a spreadsheet. ${formatCount(values.length, 'value')}.`}
          rows={Math.min(6, Math.max(2, values.length))}
          value={values.join('\n')}
          error={error}
          onChange={(text) => onChange({ ...constraint, values: valuesOfText(text) })}
        />
        {triedValues}
        {!isOfSignals && (
          <Suspense>
            <ImportValues
              onImport={(imported) =>
                onChange({ ...constraint, values: [...new Set([...values, ...imported])].filter(Boolean) })
              }
            />
          </Suspense>
        )}
      </>
    );
  }
  if (kind === 'date') {
    return (
      <TextField
        label="Date and time"
        hint={`In your time zone, ${Intl.DateTimeFormat().resolvedOptions().timeZone}.`}
        type="datetime-local"
        value={localTime(value)}
        error={error}
        onChange={(text) => {
          const time = new Date(text);
          onChange({ ...constraint, value: Number.isNaN(time.getTime()) ? '' : time.toISOString() });
        }}
      />
    );
  }
  return (
    <>
      <TextField
        label="Value"
        hint={kind === 'version' || kind === 'pattern' ? texts.valueHints[kind] : undefined}
        value={value}
        error={error}
        onChange={(text) => onChange({ ...constraint, value: kind === 'pattern' ? text : text.trim() })}
      />
      {triedValues}
    </>
  );
}

interface ConstraintFieldsProps {
  readonly isOfSignals: boolean;
  readonly constraint: Constraint;
  readonly index: number;
  readonly asksForValue: boolean;
  readonly note: string | undefined;
  /** replaces or, without another one, removes the constraint at an index; it must be the same function at each rendering */
  readonly onEdit: (index: number, constraint?: Constraint) => void;
}

/** One constraint. A key in another field of the page does not render it again: there can be thirty, each with hundreds of values. */
const ConstraintFields = memo(
  ({ isOfSignals, constraint, index, asksForValue, note, onEdit }: ConstraintFieldsProps) => {
    const onChange = (changed: Constraint): void => onEdit(index, changed);
    const { data: fields = [] } = useQuery({
      ...operationQuery(ListContextFields, {}),
      staleTime: 60_000,
      enabled: !isOfSignals,
    });
    const { data: settings } = useQuery({ ...operationQuery(GetUiConfig, {}), staleTime: 60_000 });
    const { contextName, operator, inverted = false, caseInsensitive = false } = constraint;
    const operatorsOf = (name: string) =>
      isOfSignals ? operatorsOfSignals : operatorsFor(name, settings?.flags['regexConstraints'] === true);
    const knownFields = fields.map(({ name, description }) => ({
      id: name,
      label: name,
      description: description ?? undefined,
    }));
    const fieldOptions = knownFields.some(({ id }) => id === contextName)
      ? knownFields
      : [{ id: contextName, label: contextName }, ...knownFields];
    const setOperator = (next: ConstraintOperator): void => {
      const isSameKind = valueKindOf(next) === valueKindOf(operator);
      const keepsCaseOption = canIgnoreCase(next);
      const { caseInsensitive: _, ...withoutCaseOption } = constraint;
      onChange({
        ...(keepsCaseOption ? constraint : withoutCaseOption),
        operator: next,
        ...(isSameKind ? {} : { values: [], value: '' }),
      });
    };
    return (
      <li className={styles['item']}>
        <div className={styles['row']}>
          {isOfSignals ? (
            <TextField
              label="Path"
              hint="Such as commonLabels.severity or alerts[0].labels.job"
              value={contextName}
              onChange={(path) => onChange({ ...constraint, contextName: path })}
              isRequired
            />
          ) : (
            <ComboBox
              label="Context field"
              options={fieldOptions.filter(({ id }) => id !== '')}
              value={contextName === '' ? null : contextName}
              onChange={(name) => {
                const [firstOperator] = operatorsOf(name);
                const isOperatorAllowed = operatorsOf(name).includes(operator);
                onChange(
                  isOperatorAllowed || firstOperator === undefined
                    ? { ...constraint, contextName: name }
                    : { contextName: name, operator: firstOperator, values: [], value: '' },
                );
              }}
            />
          )}
          <Select
            label="Comparison"
            options={[...new Set([...operatorsOf(contextName), operator])].map((id) => ({
              id,
              label: texts.operators[id] ?? id,
            }))}
            value={operator}
            onChange={(next) => setOperator(next as ConstraintOperator)}
          />
          <IconButton
            icon="remove"
            label={`Remove the ${isOfSignals ? 'filter' : 'constraint'} “${constraintPhrase(constraint)}”`}
            onPress={() => onEdit(index)}
          />
        </div>
        <ValueFields
          isOfSignals={isOfSignals}
          constraint={constraint}
          asksForValue={asksForValue}
          onChange={onChange}
        />
        <div className={styles['options']}>
          <Checkbox isSelected={inverted} onChange={(on) => onChange({ ...constraint, inverted: on })}>
            Negate: matches everybody else
          </Checkbox>
          {canIgnoreCase(operator) && (
            <Checkbox isSelected={caseInsensitive} onChange={(on) => onChange({ ...constraint, caseInsensitive: on })}>
              Ignore upper and lower case
            </Checkbox>
          )}
          {note !== undefined && <span className={layout['small']}>{note}</span>}
        </div>
      </li>
    );
  },
);
ConstraintFields.displayName = 'ConstraintFields';

/** The constraints of a strategy or a segment, or the filters of signals, all of which must hold. */
export function ConstraintsEditor({
  isOfSignals = false,
  constraints,
  question,
  notes = [],
  whenEmpty,
  onChange: onEdit,
}: ConstraintsEditorProps) {
  const onChange = (changed: readonly Constraint[]): void => {
    question?.onEdit(changed);
    onEdit(changed);
  };
  const latest = useRef({ constraints, onChange });
  useEffect(() => {
    latest.current = { constraints, onChange };
  });
  const edit = useCallback((index: number, constraint?: Constraint): void => {
    const { constraints: all, onChange: change } = latest.current;
    change(constraint === undefined ? all.toSpliced(index, 1) : all.with(index, constraint));
  }, []);
  return (
    <section className={layout['card']} aria-labelledby="constraints">
      <div className={layout['bar']}>
        <h2 id="constraints">{isOfSignals ? 'Filters' : 'Constraints'}</h2>
        <Button
          size="small"
          icon="add"
          onPress={() =>
            onChange([...constraints, { contextName: isOfSignals ? '' : 'userId', operator: 'IN', values: [] }])
          }
        >
          {isOfSignals ? 'Add a filter' : 'Add a constraint'}
        </Button>
      </div>
      {constraints.length === 0 &&
        (whenEmpty ?? (
          <p className={layout['small']}>
            {isOfSignals
              ? 'No filter: every signal counts. A filter compares a value of the signal.'
              : 'No constraint: every user counts.'}
          </p>
        ))}
      <ul className={styles['form']}>
        {constraints.map((constraint, index) => (
          <ConstraintFields
            key={index}
            isOfSignals={isOfSignals}
            constraint={constraint}
            index={index}
            asksForValue={question?.isAsked === true}
            note={notes[index]}
            onEdit={edit}
          />
        ))}
      </ul>
    </section>
  );
}
