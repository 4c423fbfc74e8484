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
import { sharedMessages } from '../../../messages/shared.ts';
import { strategyTypesMessages as text } from '../../../messages/administration/strategy-types.ts';
import { AdminPage } from '../admin-page.tsx';
import { type ParameterDefinition, ParameterDefinitionsEditor } from './parameter-definitions-editor.tsx';
import layout from '../../../components/layout/layout.module.css';

const parametersOf = (value: unknown): readonly ParameterDefinition[] =>
  Array.isArray(value) ? (value as ParameterDefinition[]) : [];

const fields: readonly RequestBodyField[] = [
  { name: 'title', label: text.title },
  { name: 'description', label: text.description, rows: 2 },
  {
    name: 'parameters',
    label: text.parameters,
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
          title={text.editTitle(name)}
          submit={sharedMessages.common.save}
          isWide
          intro={<p>{text.editHelp}</p>}
          operation={UpdateStrategyType}
          values={bodyOf({ name, ...type })}
          readStored={async () => {
            const value = await call(GetStrategyType, { params: { name } });
            return { value: bodyOf(value) };
          }}
          fields={fields}
          prepare={withoutUnnamedParameters}
          notification={() => text.saved(name)}
        />
      );
    case 'deprecate':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={text.deprecateTitle(name)}
          confirm={text.deprecate}
          operation={DeprecateStrategyType}
          notification={text.isDeprecated(name)}
        >
          <p>{text.deprecateHelp}</p>
        </ConfirmOperationDialog>
      );
    case 'reactivate':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={text.reactivateTitle(name)}
          confirm={text.reactivate}
          operation={ReactivateStrategyType}
          notification={text.isReactivated(name)}
        >
          <p>{text.reactivateHelp}</p>
        </ConfirmOperationDialog>
      );
    case 'delete':
      return (
        <ConfirmOperationDialog
          {...shared}
          title={text.deleteTitle(name)}
          confirm={text.delete}
          isDangerous
          operation={DeleteStrategyType}
          notification={text.deleted(name)}
        >
          <p>{text.deleteHelp}</p>
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
      {text.create}
    </Button>
  );
  return (
    <AdminPage id="strategies" actions={createButton}>
      <MissingPermissionNotice operation={UpdateStrategyType} />
      <ResourceList
        label={text.types}
        query={types}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ title, description }) => `${title ?? ''} ${description ?? ''}`}
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: ({ name, displayName, editable, deprecated }) => (
              <span className={layout['inline']}>
                <strong>{displayName ?? name}</strong>
                {displayName !== null && displayName !== name && <span className={layout['small']}>{name}</span>}
                {deprecated && <Badge tone="warning">{text.deprecated}</Badge>}
                {!deprecated && (
                  <Badge tone={editable ? 'accent' : 'neutral'}>{editable ? text.custom : text.builtIn}</Badge>
                )}
              </span>
            ),
          },
          { id: 'description', title: text.description, cell: ({ description }) => description },
          {
            id: 'parameters',
            title: text.parameters,
            cell: ({ parameters }) =>
              parameters.length === 0 ? (
                <span className={layout['muted']}>{text.none}</span>
              ) : (
                parametersOf(parameters)
                  .map(({ name }) => name)
                  .join(', ')
              ),
          },
        ]}
        actions={(type) => [
          ...(type.editable && mayCall(UpdateStrategyType)
            ? [menuEntry(type, 'edit', sharedMessages.common.edit, 'edit')]
            : []),
          ...(mayCall(DeprecateStrategyType) && type.name !== 'default'
            ? [
                type.deprecated
                  ? menuEntry(type, 'reactivate', text.reactivate)
                  : menuEntry(type, 'deprecate', text.deprecate),
              ]
            : []),
          ...(type.editable && mayCall(DeleteStrategyType) ? [menuEntry(type, 'delete', text.delete, 'remove')] : []),
        ]}
        empty={{ title: text.empty, help: text.emptyHelp }}
      />
      {dialog?.action === 'create' && (
        <RequestBodyDialog
          title={text.create}
          submit={sharedMessages.common.create}
          isWide
          operation={CreateStrategyType}
          request={{}}
          values={{ parameters: [] }}
          fields={[{ name: 'name', label: text.name, hint: text.nameHint }, ...fields]}
          prepare={withoutUnnamedParameters}
          notification={({ name }) => text.created(String(name))}
          onClose={close}
        />
      )}
      {dialog?.type !== undefined && <TypeDialog action={dialog.action} type={dialog.type} onClose={close} />}
    </AdminPage>
  );
};
