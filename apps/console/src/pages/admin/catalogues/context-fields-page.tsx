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
import { operationQuery } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import type { FormValues } from '../../../components/forms/request-body-schema.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { FlagLink, UsageList } from '../../../components/resources/usage-list.tsx';
import { contextFieldsMessages as text } from '../../../messages/administration/context-fields.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { AdminPage } from '../admin-page.tsx';
import { LegalValuesEditor } from './legal-values-editor.tsx';
import layout from '../../../components/layout/layout.module.css';

const valuesOf = (value: unknown): readonly LegalValue[] => (Array.isArray(value) ? (value as LegalValue[]) : []);

const fields: readonly RequestBodyField[] = [
  { name: 'description', label: text.description, rows: 2 },
  { name: 'stickiness', label: text.stickiness },
  {
    name: 'legalValues',
    label: text.legalValues,
    render: (value, onChange) => <LegalValuesEditor values={valuesOf(value)} onChange={onChange} />,
  },
];

const bodyOf = ({ description, stickiness, sortOrder, legalValues = [] }: ContextField): FormValues => ({
  description: description ?? null,
  stickiness,
  sortOrder,
  legalValues,
});

/** The body to send: rows of legal values that are empty are left out. */
const withoutEmptyLegalValues = ({ legalValues, ...body }: FormValues): FormValues => ({
  ...body,
  legalValues: valuesOf(legalValues)
    .map(({ value, description }) => ({ value: value.trim(), description: description?.trim() || null }))
    .filter(({ value }) => value !== ''),
});

const ContextFieldUsage = ({ name }: { readonly name: string }) => {
  const strategiesQuery = useQuery(operationQuery(ListStrategiesOfContextField, { params: { name } }));
  return (
    <UsageList
      query={strategiesQuery}
      title={text.usedBy}
      emptyText={text.unused}
      uses={({ strategies }) =>
        strategies.map(({ id, projectId, featureName, environment }) => ({
          key: id,
          node: <FlagLink project={projectId} feature={featureName} environment={environment} />,
        }))
      }
    />
  );
};

/** The fields of the context that SDKs evaluate flags with. */
export const ContextFieldsPage = () => {
  const contextFields = useQuery(operationQuery(ListContextFields, {}));
  const mayCall = useMayCall();
  const [dialog, setDialog] = useState<{
    readonly action: 'create' | 'edit' | 'delete';
    readonly field?: ContextField;
  }>();
  const close = (): void => setDialog(undefined);
  const createButton = mayCall(CreateContextField) && (
    <Button variant="primary" icon="add" onPress={() => setDialog({ action: 'create' })}>
      {text.create}
    </Button>
  );
  const field = dialog?.field;
  return (
    <AdminPage id="context" actions={createButton}>
      <MissingPermissionNotice operation={UpdateContextField} />
      <ResourceList
        label={text.fields}
        query={contextFields}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ description, legalValues = [] }) =>
          [description ?? '', ...legalValues.map(({ value }) => value)].join(' ')
        }
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: ({ name, stickiness }) => (
              <span className={layout['inline']}>
                <strong>{name}</strong>
                {stickiness === true && <Badge tone="accent">{text.sticky}</Badge>}
              </span>
            ),
          },
          { id: 'description', title: text.description, cell: ({ description }) => description },
          {
            id: 'values',
            title: text.legalValues,
            cell: ({ legalValues = [] }) =>
              legalValues.length === 0 ? (
                <span className={layout['muted']}>{text.any}</span>
              ) : (
                text.values(legalValues.length)
              ),
          },
          { id: 'projects', title: text.projects, isNumber: true, cell: ({ usedInProjects }) => usedInProjects ?? 0 },
          { id: 'flags', title: text.flags, isNumber: true, cell: ({ usedInFeatures }) => usedInFeatures ?? 0 },
        ]}
        actions={(row) => [
          ...(mayCall(UpdateContextField)
            ? [
                {
                  id: 'edit',
                  label: sharedMessages.common.edit,
                  icon: 'edit' as const,
                  run: () => setDialog({ action: 'edit', field: row }),
                },
              ]
            : []),
          ...(mayCall(DeleteContextField)
            ? [
                {
                  id: 'delete',
                  label: text.delete,
                  icon: 'remove' as const,
                  run: () => setDialog({ action: 'delete', field: row }),
                },
              ]
            : []),
        ]}
        empty={{ title: text.empty, help: text.emptyHelp, action: createButton }}
      />
      {dialog?.action === 'create' && (
        <RequestBodyDialog
          title={text.create}
          submit={sharedMessages.common.create}
          isWide
          operation={CreateContextField}
          request={{}}
          values={{ legalValues: [] }}
          fields={[{ name: 'name', label: text.name, hint: text.nameHint }, ...fields]}
          prepare={withoutEmptyLegalValues}
          notification={({ name }) => text.created(String(name))}
          onClose={close}
        />
      )}
      {dialog?.action === 'edit' && field !== undefined && (
        <RequestBodyDialog
          title={text.editTitle(field.name)}
          submit={sharedMessages.common.save}
          isWide
          intro={<ContextFieldUsage name={field.name} />}
          operation={UpdateContextField}
          request={{ params: { name: field.name } }}
          values={bodyOf(field)}
          readStored={async () => {
            const value = await call(GetContextField, { params: { name: field.name } });
            return { value: bodyOf(value) };
          }}
          fields={fields}
          prepare={withoutEmptyLegalValues}
          notification={() => text.saved(field.name)}
          onClose={close}
        />
      )}
      {dialog?.action === 'delete' && field !== undefined && (
        <ConfirmOperationDialog
          title={text.deleteTitle(field.name)}
          confirm={text.delete}
          isDangerous
          operation={DeleteContextField}
          request={{ params: { name: field.name } }}
          notification={text.deleted(field.name)}
          onClose={close}
        >
          <p>{text.deleteHelp}</p>
          <ContextFieldUsage name={field.name} />
        </ConfirmOperationDialog>
      )}
    </AdminPage>
  );
};
