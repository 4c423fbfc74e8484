import {
  CreateStrategyType,
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
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyField } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Badge } from '../../../components/content/badge.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import { type ParameterDefinition, ParameterDefinitionsEditor } from './parameter-definitions-editor.tsx';
import layout from '../../../components/layout/layout.module.css';

const parametersOf = (value: unknown): readonly ParameterDefinition[] =>
  Array.isArray(value) ? (value as ParameterDefinition[]) : [];

const fields: readonly RequestBodyField[] = [
  { name: 'title', label: 'Name for people' },
  { name: 'description', label: 'Description', rows: 2 },
  {
    name: 'parameters',
    label: 'Parameters',
    render: (value, onChange) => <ParameterDefinitionsEditor parameters={parametersOf(value)} onChange={onChange} />,
  },
];

const bodyOf = ({ title, description, parameters }: StrategyType): FormValues => ({ title, description, parameters });

/** The body to send: rows of parameters without a name are left out. */
const withoutUnnamedParameters = ({ parameters, ...body }: FormValues): FormValues => ({
  ...body,
  parameters: parametersOf(parameters).filter(({ name }) => name.trim() !== ''),
});

const paramsOf = ({ name }: StrategyType) => ({ params: { name } });

/** The types of strategies: the built-in ones, and those that only the SDKs of the user can evaluate. */
export const StrategyTypesPage = () => (
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
        id: 'name',
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
      { id: 'description', title: 'Description', cell: ({ description }) => description },
      {
        id: 'parameters',
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
