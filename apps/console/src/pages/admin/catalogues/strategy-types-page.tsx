import {
  CreateStrategyType,
  type CreateStrategyTypeBody,
  DeleteStrategyType,
  DeprecateStrategyType,
  GetStrategyType,
  ListStrategyTypes,
  ReactivateStrategyType,
  type StrategyType,
  UpdateStrategyType,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { Switch, TextField } from '../../../components/forms/fields.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import type { RequestBodyField } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import layout from '../../../components/layout/layout.module.css';
import { AdminCatalogue } from '../admin-page.tsx';
import styles from '../admin.module.css';

const texts = {
  parameterTypes: {
    string: 'Text',
    percentage: 'Percentage',
    list: 'List',
    number: 'Number',
    boolean: 'Yes or no',
  },
} as const;

export type ParameterDefinition = CreateStrategyTypeBody['parameters'][number];

interface ParameterDefinitionsEditorProps {
  readonly parameters: readonly ParameterDefinition[];
  readonly onChange: (parameters: readonly ParameterDefinition[]) => void;
}

const types = Object.entries(texts.parameterTypes).map(([id, label]) => ({ id, label }));

/** The editor of the parameters that strategies of a type have: their names, types and descriptions. */
function ParameterDefinitionsEditor({ parameters, onChange }: ParameterDefinitionsEditorProps) {
  const edit = (index: number, change: Partial<ParameterDefinition>): void =>
    onChange(parameters.with(index, { ...(parameters[index] as ParameterDefinition), ...change }));
  return (
    <fieldset className={styles['rows']}>
      <legend className={styles['legend']}>Parameters</legend>
      <p className={layout['small']}>What a strategy of this type asks for. Your SDKs read them by name.</p>
      {parameters.map(({ name, type = 'string', description = '', required = false }, index) => (
        <div key={index} className={styles['parameter']}>
          <TextField label="Name" value={name} onChange={(change) => edit(index, { name: change })} />
          <Select
            label="Kind"
            options={types.some(({ id }) => id === type) ? types : [...types, { id: type, label: type }]}
            value={type}
            onChange={(change) => edit(index, { type: change })}
          />
          <TextField
            label="What it decides"
            value={description}
            onChange={(change) => edit(index, { description: change })}
          />
          <Switch isSelected={required} onChange={(change) => edit(index, { required: change })}>
            Needed
          </Switch>
          <IconButton
            icon="remove"
            label={`Remove the parameter ${name}`}
            onPress={() => onChange(parameters.toSpliced(index, 1))}
          />
        </div>
      ))}
      <div>
        <Button
          size="small"
          icon="add"
          onPress={() => onChange([...parameters, { name: '', type: 'string', required: false }])}
        >
          Add a parameter
        </Button>
      </div>
    </fieldset>
  );
}

function parametersOf(value: unknown): readonly ParameterDefinition[] {
  return Array.isArray(value) ? (value as ParameterDefinition[]) : [];
}

const fields: readonly RequestBodyField[] = [
  { name: 'title', label: 'Name for people' },
  { name: 'description', label: 'Description', rows: 2 },
  {
    name: 'parameters',
    label: 'Parameters',
    render: (value, onChange) => <ParameterDefinitionsEditor parameters={parametersOf(value)} onChange={onChange} />,
  },
];

function bodyOf({ title, description, parameters }: StrategyType): FormValues {
  return { title, description, parameters };
}

/** The body to send: rows of parameters without a name are left out. */
function withoutUnnamedParameters({ parameters, ...body }: FormValues): FormValues {
  return {
    ...body,
    parameters: parametersOf(parameters).filter(({ name }) => name.trim() !== ''),
  };
}

function paramsOf({ name }: StrategyType) {
  return { params: { name } };
}

/** The types of strategies: the built-in ones, and those that only the SDKs of the user can evaluate. */
export function StrategyTypesPage() {
  return (
    <AdminCatalogue
      id="strategies"
      noun="strategy type"
      label="Strategy types"
      query={useQuery({ ...operationQuery(ListStrategyTypes, {}), select: ({ strategies }) => strategies })}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ title, description }) => `${title ?? ''} ${description ?? ''}`}
      columns={[
        {
          title: 'Name',
          cell: ({ name, displayName, editable, deprecated }) => (
            <span className={layout['inline']}>
              <strong>{displayName ?? name}</strong>
              {displayName !== null && displayName !== name && <span className={layout['small']}>{name}</span>}
              {deprecated && <Badge tone="warning">deprecated</Badge>}
              {!deprecated && (
                <Badge tone={editable ? 'accent' : 'neutral'}>{editable ? 'evaluated by your SDKs' : 'built in'}</Badge>
              )}
            </span>
          ),
        },
        { title: 'Description', cell: ({ description }) => description },
        {
          title: 'Parameters',
          cell: ({ parameters }) =>
            parameters.length === 0 ? (
              <span className={layout['muted']}>none</span>
            ) : (
              parametersOf(parameters)
                .map(({ name }) => name)
                .join(', ')
            ),
        },
      ]}
      create={{
        operation: CreateStrategyType,
        isWide: true,
        values: { parameters: [] },
        fields: [{ name: 'name', label: 'Name', hint: 'As your SDKs know it. It cannot be changed later.' }, ...fields],
        prepare: withoutUnnamedParameters,
      }}
      edit={{
        operation: UpdateStrategyType,
        isOffered: ({ editable }) => editable,
        isWide: true,
        fields,
        prepare: withoutUnnamedParameters,
        request: paramsOf,
        values: bodyOf,
        stored: async (type) => bodyOf(await call(GetStrategyType, paramsOf(type))),
        intro: () => <p>Strategies of this type keep the values that they have. A new parameter is empty in them.</p>,
      }}
      actions={[
        {
          id: 'deprecate',
          label: 'Deprecate',
          operation: DeprecateStrategyType,
          isOffered: ({ name, deprecated }) => name !== 'default' && !deprecated,
          dialog: (type, onClose) => (
            <ConfirmOperationDialog
              title={`Deprecate the strategy type “${type.name}”`}
              confirm="Deprecate"
              operation={DeprecateStrategyType}
              request={paramsOf(type)}
              notification={`The strategy type ${type.name} is deprecated.`}
              onClose={onClose}
            >
              <p>Strategies of this type keep working. It is not offered for new ones.</p>
            </ConfirmOperationDialog>
          ),
        },
        {
          id: 'reactivate',
          label: 'Offer again',
          operation: DeprecateStrategyType,
          isOffered: ({ name, deprecated }) => name !== 'default' && deprecated,
          dialog: (type, onClose) => (
            <ConfirmOperationDialog
              title={`Offer the strategy type “${type.name}” again`}
              confirm="Offer again"
              operation={ReactivateStrategyType}
              request={paramsOf(type)}
              notification={`The strategy type ${type.name} is offered again.`}
              onClose={onClose}
            >
              <p>It is offered for new strategies again.</p>
            </ConfirmOperationDialog>
          ),
        },
      ]}
      remove={{
        operation: DeleteStrategyType,
        isOffered: ({ editable }) => editable,
        request: paramsOf,
        usage: () => <p>A type that a strategy uses is kept, and the refusal names the flag. Deprecate it instead.</p>,
      }}
      empty={{ title: 'No strategy types', help: 'The built-in types are missing: the database may be incomplete.' }}
    />
  );
}
