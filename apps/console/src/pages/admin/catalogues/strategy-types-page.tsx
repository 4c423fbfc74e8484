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
import { useState } from 'react';
import { call } from '../../../api/call.ts';
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import type { MenuEntry } from '../../../components/buttons/menu.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { AdminPage } from '../admin-page.tsx';
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

type Action = 'create' | 'edit' | 'deprecate' | 'reactivate' | 'delete';

interface DialogProps {
  readonly action: Action;
  readonly type: StrategyType;
  readonly onClose: () => void;
}

const TypeDialog = ({ action, type: { name, ...type }, onClose }: DialogProps) => {
  const shared = { request: { params: { name } }, onClose };
  switch (action) {
    case 'edit':
      return (
        <RequestBodyDialog
          {...shared}
          title={`Edit the strategy type “${name}”`}
          submit="Save"
          isWide
          intro={<p>Strategies of this type keep the values that they have. A new parameter is empty in them.</p>}
          operation={UpdateStrategyType}
          values={bodyOf({ name, ...type })}
          readStored={async () => {
            const value = await call(GetStrategyType, { params: { name } });
            return { value: bodyOf(value) };
          }}
          fields={fields}
          prepare={withoutUnnamedParameters}
          notification={() => `The strategy type ${name} is saved.`}
        />
      );
    case 'deprecate':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={`Deprecate the strategy type “${name}”`}
          confirm="Deprecate"
          operation={DeprecateStrategyType}
          notification={`The strategy type ${name} is deprecated.`}
        >
          <p>Strategies of this type keep working. It is not offered for new ones.</p>
        </ConfirmOperationDialog>
      );
    case 'reactivate':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={`Offer the strategy type “${name}” again`}
          confirm="Offer again"
          operation={ReactivateStrategyType}
          notification={`The strategy type ${name} is offered again.`}
        >
          <p>It is offered for new strategies again.</p>
        </ConfirmOperationDialog>
      );
    case 'delete':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={`Delete the strategy type “${name}”`}
          confirm="Delete"
          isDangerous
          operation={DeleteStrategyType}
          notification={`The strategy type ${name} is deleted.`}
        >
          <p>A type that a strategy uses is kept, and the refusal names the flag. Deprecate it instead.</p>
        </ConfirmOperationDialog>
      );
    case 'create':
      return null;
  }
};

/** The types of strategies: the built-in ones, and those that only the SDKs of the user can evaluate. */
export const StrategyTypesPage = () => {
  const types = useQuery({ ...operationQuery(ListStrategyTypes, {}), select: ({ strategies }) => strategies });
  const mayCall = useMayCall();
  const [dialog, setDialog] = useState<{ readonly action: Action; readonly type?: StrategyType }>();
  const close = (): void => setDialog(undefined);
  const menuEntry = (type: StrategyType, action: Action, label: string, icon?: MenuEntry['icon']): MenuEntry => ({
    id: action,
    label,
    run: () => setDialog({ action, type }),
    ...(icon && { icon }),
  });
  const createButton = mayCall(CreateStrategyType) && (
    <Button variant="primary" icon="add" onPress={() => setDialog({ action: 'create' })}>
      Create a strategy type
    </Button>
  );
  return (
    <AdminPage id="strategies" actions={createButton}>
      <MissingPermissionNotice operation={UpdateStrategyType} />
      <ResourceList
        label="Strategy types"
        query={types}
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
                  <Badge tone={editable ? 'accent' : 'neutral'}>
                    {editable ? 'evaluated by your SDKs' : 'built in'}
                  </Badge>
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
        actions={(type) => [
          ...(type.editable && mayCall(UpdateStrategyType) ? [menuEntry(type, 'edit', 'Edit', 'edit')] : []),
          ...(mayCall(DeprecateStrategyType) && type.name !== 'default'
            ? [
                type.deprecated
                  ? menuEntry(type, 'reactivate', 'Offer again')
                  : menuEntry(type, 'deprecate', 'Deprecate'),
              ]
            : []),
          ...(type.editable && mayCall(DeleteStrategyType) ? [menuEntry(type, 'delete', 'Delete', 'remove')] : []),
        ]}
        empty={{ title: 'No strategy types', help: 'The built-in types are missing: the database may be incomplete.' }}
      />
      {dialog?.action === 'create' && (
        <RequestBodyDialog
          title="Create a strategy type"
          submit="Create"
          isWide
          operation={CreateStrategyType}
          request={{}}
          values={{ parameters: [] }}
          fields={[
            { name: 'name', label: 'Name', hint: 'As your SDKs know it. It cannot be changed later.' },
            ...fields,
          ]}
          prepare={withoutUnnamedParameters}
          notification={({ name }) => `The strategy type ${String(name)} is created.`}
          onClose={close}
        />
      )}
      {dialog?.type !== undefined && <TypeDialog action={dialog.action} type={dialog.type} onClose={close} />}
    </AdminPage>
  );
};
