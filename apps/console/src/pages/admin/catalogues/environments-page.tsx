import {
  CloneEnvironment,
  CreateEnvironment,
  DeleteEnvironment,
  type EnvironmentDescription,
  GetEnvironment,
  ListEnvironments,
  SetEnvironmentOrder,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { lazy, Suspense, useState } from 'react';
import { callWithEntityTag } from '../../../api/call.ts';
import { operationQuery, operationQueryWithEntityTag, useProjects } from '../../../api/queries-and-mutations.ts';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { DialogQueryResult } from '../../../components/dialogs/dialog-query-result.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import type { MenuEntry } from '../../../components/buttons/menu.tsx';
import { MissingPermissionNotice } from '../../../components/resources/missing-permission-notice.tsx';
import { useMayCall } from '../../../api/use-may-call.ts';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { ResourceList } from '../../../components/resources/resource-list.tsx';
import { environmentsMessages as text } from '../../../messages/administration/environments.ts';
import { sharedMessages } from '../../../messages/shared.ts';
import { AdminPage } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';

const EnvironmentOrderDialog = lazy(() =>
  import('./environment-order-dialog.tsx').then(({ EnvironmentOrderDialog: component }) => ({ default: component })),
);

const typeField = (type?: string): RequestBodyField => {
  const knownTypes = Object.entries(text.types).map(([id, label]) => ({ id, label }));
  const isKnown = type === undefined || knownTypes.some(({ id }) => id === type);
  return {
    name: 'type',
    label: text.type,
    hint: text.typeHint,
    options: isKnown ? knownTypes : [...knownTypes, { id: type, label: type }],
  };
};

const approvalsField: RequestBodyField = { name: 'requiredApprovals', label: text.approvals, hint: text.approvalsHint };

const typeName = (type: string): string => text.types[type as keyof typeof text.types] ?? type;

/** The projects, flags and API tokens that use an environment, as a sentence. */
const EnvironmentUsage = ({ projectCount = 0, enabledToggleCount = 0, apiTokenCount = 0 }: EnvironmentDescription) => (
  <p>{text.usage(projectCount, enabledToggleCount, apiTokenCount)}</p>
);

interface DialogProps {
  readonly environment: EnvironmentDescription;
  readonly onClose: () => void;
}

const bodyOf = ({ type, requiredApprovals }: EnvironmentDescription) => ({ type, requiredApprovals });

const EditDialog = ({ environment, onClose }: DialogProps) => {
  const { name } = environment;
  const stored = useQuery({
    ...operationQueryWithEntityTag(GetEnvironment, { params: { name } }),
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <DialogQueryResult title={text.editTitle(name)} query={stored} onClose={onClose}>
      {({ value, entityTag }) => (
        <RequestBodyDialog
          title={text.editTitle(name)}
          submit={sharedMessages.common.save}
          intro={<EnvironmentUsage {...environment} />}
          operation={UpdateEnvironment}
          request={{ params: { name } }}
          values={bodyOf(value)}
          entityTag={entityTag}
          readStored={async () => {
            const current = await callWithEntityTag(GetEnvironment, { params: { name } });
            return { value: bodyOf(current.value), entityTag: current.entityTag };
          }}
          fields={[typeField(environment.type), approvalsField]}
          notification={() => text.saved(name)}
          onClose={onClose}
        />
      )}
    </DialogQueryResult>
  );
};

const CloneDialog = ({ environment, onClose }: DialogProps) => {
  const projects = useProjects().data?.projects ?? [];
  return (
    <RequestBodyDialog
      title={text.cloneTitle(environment.name)}
      submit={text.clone}
      intro={<p>{text.cloneHelp}</p>}
      operation={CloneEnvironment}
      request={{ params: { name: environment.name } }}
      values={{ type: environment.type, clonePermissions: true, projects: [] }}
      prepare={({ projects: chosen, ...body }) =>
        Array.isArray(chosen) && chosen.length > 0 ? { ...body, projects: chosen } : body
      }
      fields={[
        { name: 'name', label: text.name, hint: text.nameHint },
        typeField(environment.type),
        {
          name: 'projects',
          label: text.cloneProjects,
          render: (value, onChange) => (
            <MultiComboBox
              label={text.cloneProjects}
              hint={text.cloneProjectsHint}
              options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
              value={Array.isArray(value) ? (value as string[]) : []}
              onChange={onChange}
              emptyText={text.allProjects}
            />
          ),
        },
        { name: 'clonePermissions', label: text.clonePermissions },
      ]}
      notification={({ name }) => text.cloned(String(name))}
      onClose={onClose}
    />
  );
};

const DeleteDialog = ({ environment, onClose }: DialogProps) => {
  const { name, projectCount = 0, protected: isProtected } = environment;
  return (
    <ConfirmOperationDialog
      title={text.deleteTitle(name)}
      confirm={text.delete}
      isDangerous
      typedName={name}
      isImpossible={isProtected || projectCount > 0}
      operation={DeleteEnvironment}
      request={{ params: { name }, ifMatch: undefined }}
      notification={text.deleted(name)}
      onClose={onClose}
    >
      {isProtected && <Notice tone="warning">{text.isProtected}</Notice>}
      {projectCount > 0 && <Notice tone="warning">{text.inUse(projectCount)}</Notice>}
      {!isProtected && projectCount === 0 && <p>{text.deleteHelp}</p>}
      <EnvironmentUsage {...environment} />
    </ConfirmOperationDialog>
  );
};

/** Deprecates an environment, or enables it again. New projects get the enabled environments only. */
const DeprecateOrEnableDialog = ({ environment, onClose }: DialogProps) => {
  const { name, enabled } = environment;
  return (
    <ConfirmOperationDialog
      title={enabled ? text.deprecateTitle(name) : text.enableTitle(name)}
      confirm={enabled ? text.deprecate : text.enable}
      operation={enabled ? SwitchEnvironmentOff : SwitchEnvironmentOn}
      request={{ params: { name }, ifMatch: undefined }}
      notification={enabled ? text.isDeprecated(name) : text.isEnabledAgain(name)}
      onClose={onClose}
    >
      <p>{enabled ? text.deprecateHelp : text.enableHelp}</p>
      <EnvironmentUsage {...environment} />
    </ConfirmOperationDialog>
  );
};

const dialogs = {
  edit: EditDialog,
  clone: CloneDialog,
  deprecateOrEnable: DeprecateOrEnableDialog,
  delete: DeleteDialog,
};

/** The environments in their order, with the dialogs that change them. */
export const EnvironmentsPage = () => {
  // The counts in the list decide whether an environment can be deleted, and writes outside of this browser change them, too: they are
  // read whenever the page is opened.
  const environments = useQuery({ ...operationQuery(ListEnvironments, {}), staleTime: 0 });
  const mayCall = useMayCall();
  const [open, setOpen] = useState<{
    readonly dialog: keyof typeof dialogs;
    readonly environment: EnvironmentDescription;
  }>();
  const [isOrdering, setOrdering] = useState(false);
  const [isCreating, setCreating] = useState(false);
  const rows = environments.data?.environments;
  const OpenDialog = open === undefined ? undefined : dialogs[open.dialog];
  const menuEntry = (
    environment: EnvironmentDescription,
    dialog: keyof typeof dialogs,
    label: string,
    icon?: MenuEntry['icon'],
  ): MenuEntry => ({ id: dialog, label, ...(icon && { icon }), run: () => setOpen({ dialog, environment }) });
  const createButton = mayCall(CreateEnvironment) && (
    <Button variant="primary" icon="add" onPress={() => setCreating(true)}>
      {text.create}
    </Button>
  );
  return (
    <AdminPage
      id="environments"
      actions={
        <>
          {mayCall(SetEnvironmentOrder) && (rows?.length ?? 0) > 1 && (
            <Button onPress={() => setOrdering(true)}>{text.order}</Button>
          )}
          {createButton}
        </>
      }
    >
      <MissingPermissionNotice operation={UpdateEnvironment} />
      <ResourceList
        label={text.environments}
        query={{ ...environments, data: rows }}
        rowKey={({ name }) => name}
        name={({ name }) => name}
        text={({ type }) => type}
        columns={[
          {
            id: 'name',
            title: text.name,
            cell: ({ name, enabled, protected: isProtected }) => (
              <span className={layout['inline']}>
                <strong>{name}</strong>
                {!enabled && <Badge tone="warning">{text.deprecated}</Badge>}
                {isProtected && <Badge>{text.protected}</Badge>}
              </span>
            ),
          },
          { id: 'type', title: text.type, cell: ({ type }) => typeName(type) },
          {
            id: 'approvals',
            title: text.approvals,
            cell: ({ requiredApprovals }) =>
              requiredApprovals == null ? (
                <span className={layout['muted']}>{text.projectsDecide}</span>
              ) : (
                <Badge tone="accent">{text.atLeast(requiredApprovals)}</Badge>
              ),
          },
          { id: 'projects', title: text.projects, isNumber: true, cell: ({ projectCount = 0 }) => projectCount },
          {
            id: 'flags',
            title: text.flagsOn,
            isNumber: true,
            cell: ({ enabledToggleCount = 0 }) => enabledToggleCount,
          },
          { id: 'tokens', title: text.tokens, isNumber: true, cell: ({ apiTokenCount = 0 }) => apiTokenCount },
        ]}
        actions={(environment) =>
          mayCall(UpdateEnvironment)
            ? [
                menuEntry(environment, 'edit', text.edit, 'edit'),
                menuEntry(environment, 'clone', text.clone, 'copy'),
                menuEntry(environment, 'deprecateOrEnable', environment.enabled ? text.deprecate : text.enable),
                menuEntry(environment, 'delete', text.delete, 'remove'),
              ]
            : []
        }
        empty={{ title: text.empty, help: text.emptyHelp, action: createButton }}
      />
      {isCreating && (
        <RequestBodyDialog
          title={text.create}
          submit={sharedMessages.common.create}
          operation={CreateEnvironment}
          request={{}}
          values={{ type: 'development', enabled: true }}
          fields={[
            { name: 'name', label: text.name, hint: text.nameHint },
            typeField(),
            approvalsField,
            { name: 'enabled', label: text.enabled },
          ]}
          notification={({ name }) => text.created(String(name))}
          onClose={() => setCreating(false)}
        />
      )}
      <Suspense>
        {isOrdering && rows !== undefined && (
          <EnvironmentOrderDialog environments={rows} onClose={() => setOrdering(false)} />
        )}
      </Suspense>
      {open !== undefined && OpenDialog !== undefined && (
        <OpenDialog environment={open.environment} onClose={() => setOpen(undefined)} />
      )}
    </AdminPage>
  );
};
