import {
  type ContextField,
  CreateContextField,
  DeleteContextField,
  GetContextField,
  type LegalValue,
  ListContextFields,
  ListStrategiesOfContextField,
  UpdateContextField,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery, useSegmentSummaries } from '../../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { TextField } from '../../../components/forms/fields.tsx';
import type { RequestBodyField } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import layout from '../../../components/layout/layout.module.css';
import { FlagLink, UsageList } from '../../../components/resources/usage-list.tsx';
import { formatCount } from '../../../text/format-number.ts';
import { ImportValues } from '../../strategy/import-values.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import styles from '../admin.module.css';

interface LegalValuesEditorProps {
  readonly values: readonly LegalValue[];
  readonly onChange: (values: readonly LegalValue[]) => void;
}

/** The maximum number of rows until the user expands the list: the browser needs a second to draw a thousand. */
const maxShown = 50;

/** The editor of the legal values of a context field, each with a description. Values can also be imported from a file. */
function LegalValuesEditor({ values, onChange }: LegalValuesEditorProps) {
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
}

function valuesOf(value: unknown): readonly LegalValue[] {
  return Array.isArray(value) ? (value as LegalValue[]) : [];
}

const fields: readonly RequestBodyField[] = [
  { name: 'description', label: 'Description', rows: 2 },
  { name: 'stickiness', label: 'Can be used for stickiness' },
  {
    name: 'legalValues',
    label: 'Legal values',
    render: (value, onChange) => <LegalValuesEditor values={valuesOf(value)} onChange={onChange} />,
  },
];

function bodyOf({ description, stickiness, sortOrder, legalValues = [] }: ContextField): FormValues {
  return {
    description: description ?? null,
    stickiness,
    sortOrder,
    legalValues,
  };
}

/** The body to send: rows of legal values that are empty are left out. */
function withoutEmptyLegalValues({ legalValues, ...body }: FormValues): FormValues {
  return {
    ...body,
    legalValues: valuesOf(legalValues)
      .map(({ value, description }) => ({ value: value.trim(), description: description?.trim() || null }))
      .filter(({ value }) => value !== ''),
  };
}

function ContextFieldUsage({ name }: { readonly name: string }) {
  const strategiesQuery = useQuery(operationQuery(ListStrategiesOfContextField, { params: { name } }));
  return (
    <UsageList
      query={strategiesQuery}
      title={(n) => `${formatCount(n, 'strategy', 'strategies')} ${n === 1 ? 'compares' : 'compare'} it`}
      emptyText="No strategy that you can see compares it directly. Segments may."
      uses={({ strategies }) =>
        strategies.map(({ id, projectId, featureName, environment }) => ({
          key: id,
          node: <FlagLink project={projectId} feature={featureName} environment={environment} />,
        }))
      }
    />
  );
}

/** The fields of the context that SDKs evaluate flags with. */
export function ContextFieldsPage() {
  const segmentCounts = new Map<string, number>();
  for (const { contextNames } of useSegmentSummaries().data?.segments ?? [])
    for (const name of contextNames) segmentCounts.set(name, (segmentCounts.get(name) ?? 0) + 1);
  return (
    <AdminCatalogue
      id="context"
      noun="context field"
      label="Context fields"
      query={useQuery(operationQuery(ListContextFields, {}))}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ description, legalValues = [] }) =>
        [description ?? '', ...legalValues.map(({ value }) => value)].join(' ')
      }
      columns={[
        {
          title: 'Name',
          cell: ({ name, stickiness }) => (
            <span className={layout['inline']}>
              <strong>{name}</strong>
              {stickiness === true && <Badge tone="accent">for stickiness</Badge>}
            </span>
          ),
        },
        { title: 'Description', cell: ({ description }) => description },
        {
          title: 'Legal values',
          cell: ({ legalValues = [] }) =>
            legalValues.length === 0 ? (
              <span className={layout['muted']}>any</span>
            ) : (
              formatCount(legalValues.length, 'value')
            ),
        },
        { title: 'Projects', isNumber: true, cell: ({ usedInProjects }) => usedInProjects ?? 0 },
        { title: 'Flags', isNumber: true, cell: ({ usedInFeatures }) => usedInFeatures ?? 0 },
        { title: 'Segments', isNumber: true, cell: ({ name }) => segmentCounts.get(name) ?? 0 },
      ]}
      create={{
        operation: CreateContextField,
        isWide: true,
        values: { legalValues: [] },
        fields: [
          { name: 'name', label: 'Name', hint: 'As applications send it, such as region. It cannot be changed later.' },
          ...fields,
        ],
        prepare: withoutEmptyLegalValues,
      }}
      edit={{
        operation: UpdateContextField,
        isWide: true,
        fields,
        prepare: withoutEmptyLegalValues,
        request: ({ name }) => ({ params: { name } }),
        values: bodyOf,
        stored: async ({ name }) => bodyOf(await call(GetContextField, { params: { name } })),
        intro: ({ name }) => <ContextFieldUsage name={name} />,
      }}
      remove={{
        operation: DeleteContextField,
        request: ({ name }) => ({ params: { name } }),
        isImpossible: ({ usedInFeatures }) => (usedInFeatures ?? 0) > 0,
        usage: ({ name, usedInFeatures }) => (
          <>
            <p>
              {(usedInFeatures ?? 0) > 0
                ? 'It cannot be deleted while active flags compare it: take it out of their constraints first.'
                : 'It cannot be deleted while a default strategy compares it. Constraints of segments and of archived flags stay as they are.'}
            </p>
            <ContextFieldUsage name={name} />
          </>
        ),
      }}
      empty={{
        title: 'No context fields yet',
        help: 'A context field is what an application says of a user, such as region, for constraints to compare.',
      }}
    />
  );
}
