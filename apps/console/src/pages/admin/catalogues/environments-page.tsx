import {
  CloneEnvironment,
  CreateEnvironment,
  DeleteEnvironment,
  environmentColors,
  type EnvironmentDescription,
  GetEnvironment,
  ListEnvironments,
  SetEnvironmentOrder,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { Suspense, useState } from 'react';
import { callWithEntityTag } from '../../../api/call.ts';
import { operationQuery, operationQueryWithEntityTag, useProjects } from '../../../api/queries-and-mutations.ts';
import { EnvironmentName } from '../../../components/environments/environment-name.tsx';
import { ConfirmOperationDialog } from '../../../components/dialogs/confirm-operation-dialog.tsx';
import { DialogQueryResult } from '../../../components/dialogs/dialog.tsx';
import { type RequestBodyField, RequestBodyDialog } from '../../../components/forms/request-body-form.tsx';
import { Button } from '../../../components/buttons/button.tsx';
import { Notice } from '../../../components/content/notice.tsx';
import { Badge } from '../../../components/content/badge.tsx';
import { useMayCall } from '../../../api/permissions.ts';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { AdminCatalogue } from '../admin-page.tsx';
import layout from '../../../components/layout/layout.module.css';
import { formatCount, formatNumber } from '../../../text/format-number.ts';
import { lazyPart } from '../../../components/content/lazy-part.tsx';

const texts = {
  types: {
    development: 'Development',
    test: 'Test',
    preproduction: 'Pre-production',
    production: 'Production',
  },
  nameHint: 'A part of addresses and of API tokens, such as production. It cannot be changed later.',
} as const;

const EnvironmentOrderDialog = lazyPart(() =>
  import('./environment-order-dialog.tsx').then(({ EnvironmentOrderDialog }) => EnvironmentOrderDialog),
);

function typeField(type?: string): RequestBodyField {
  const knownTypes = Object.entries(texts.types).map(([id, label]) => ({ id, label }));
  const isKnown = type === undefined || knownTypes.some(({ id }) => id === type);
  return {
    name: 'type',
    label: 'Type',
    hint: 'Production is special: time to production and warnings count it.',
    options: isKnown ? knownTypes : [...knownTypes, { id: type, label: type }],
  };
}

const approvalsField: RequestBodyField = {
  name: 'requiredApprovals',
  label: 'Least approvals',
  hint: 'What each project asks of a change request there, at least: 1 to 10. Empty: each project decides.',
};

const colorField: RequestBodyField = {
  name: 'color',
  label: 'Colour',
  hint: 'Marks the environment in lists and on pages, beside its name.',
  options: [
    { id: '', label: 'None, or orange for production' },
    ...environmentColors.map((id) => ({ id, label: id.charAt(0).toUpperCase() + id.slice(1) })),
  ],
};

function typeName(type: string): string {
  return texts.types[type as keyof typeof texts.types] ?? type;
}

/** The projects, flags and API tokens that use an environment, as a sentence. */
function EnvironmentUsage({ projectCount = 0, enabledToggleCount = 0, apiTokenCount = 0 }: EnvironmentDescription) {
  return (
    <p>
      {formatCount(projectCount, 'project')} {projectCount === 1 ? 'uses' : 'use'} it,{' '}
      {formatCount(enabledToggleCount, 'flag')} {enabledToggleCount === 1 ? 'is' : 'are'} on there, and{' '}
      {formatCount(apiTokenCount, 'API token')} {apiTokenCount === 1 ? 'gives' : 'give'} it.
    </p>
  );
}

interface DialogProps {
  readonly environment: EnvironmentDescription;
  readonly onClose: () => void;
}

function bodyOf({ type, requiredApprovals, color }: EnvironmentDescription) {
  return { type, requiredApprovals, color };
}

function EditDialog({ environment, onClose }: DialogProps) {
  const { name } = environment;
  const stored = useQuery({
    ...operationQueryWithEntityTag(GetEnvironment, { params: { name } }),
    gcTime: 0,
    staleTime: Infinity,
  });
  return (
    <DialogQueryResult title={`Edit the environment “${name}”`} query={stored} onClose={onClose}>
      {({ value, entityTag }) => (
        <RequestBodyDialog
          title={`Edit the environment “${name}”`}
          submit="Save"
          intro={<EnvironmentUsage {...environment} />}
          operation={UpdateEnvironment}
          request={{ params: { name } }}
          values={bodyOf(value)}
          entityTag={entityTag}
          readStored={async () => {
            const current = await callWithEntityTag(GetEnvironment, { params: { name } });
            return { value: bodyOf(current.value), entityTag: current.entityTag };
          }}
          fields={[typeField(environment.type), colorField, approvalsField]}
          notification={() => `The environment ${name} is saved.`}
          onClose={onClose}
        />
      )}
    </DialogQueryResult>
  );
}

function CloneDialog({ environment, onClose }: DialogProps) {
  const projects = useProjects().data?.projects ?? [];
  return (
    <RequestBodyDialog
      title={`Clone the environment “${environment.name}”`}
      submit="Clone"
      intro={
        <p>
          The flags of the projects below get their strategies, variants and states there too, and continue on their
          own.
        </p>
      }
      operation={CloneEnvironment}
      request={{ params: { name: environment.name } }}
      values={{ type: environment.type, clonePermissions: true, projects: [] }}
      prepare={({ projects: chosen, ...body }) =>
        Array.isArray(chosen) && chosen.length > 0 ? { ...body, projects: chosen } : body
      }
      fields={[
        { name: 'name', label: 'Name', hint: texts.nameHint },
        typeField(environment.type),
        {
          name: 'projects',
          label: 'Projects',
          render: (value, onChange) => (
            <MultiComboBox
              label="Projects"
              hint="Find projects by typing."
              options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
              value={Array.isArray(value) ? (value as string[]) : []}
              onChange={onChange}
              emptyText="Every project that has the environment"
            />
          ),
        },
        { name: 'clonePermissions', label: 'Roles get the permissions there that they have in the original' },
      ]}
      notification={({ name }) => `The environment ${String(name)} is made.`}
      onClose={onClose}
    />
  );
}

/** Why an environment cannot be deleted, or what happens then, and what uses it. */
function DeletionUsage(environment: EnvironmentDescription) {
  const { projectCount = 0, protected: isProtected } = environment;
  return (
    <>
      {isProtected && <Notice tone="warning">This environment is protected and cannot be deleted.</Notice>}
      {projectCount > 0 && (
        <Notice tone="warning">
          {formatCount(projectCount, 'project')} {projectCount === 1 ? 'uses' : 'use'} it. Take it out of{' '}
          {projectCount === 1 ? 'that project' : 'those projects'} first, in the project under “Environments”.
        </Notice>
      )}
      {!isProtected && projectCount === 0 && <p>API tokens for it stop working. It cannot be brought back.</p>}
      <EnvironmentUsage {...environment} />
    </>
  );
}

/** Deprecates an environment, or enables it again. New projects get the enabled environments only. */
function DeprecateOrEnableDialog({ environment, onClose }: DialogProps) {
  const { name, enabled } = environment;
  return (
    <ConfirmOperationDialog
      title={enabled ? `Deprecate the environment “${name}”` : `Use the environment “${name}” again`}
      confirm={enabled ? 'Deprecate' : 'Use again'}
      operation={enabled ? SwitchEnvironmentOff : SwitchEnvironmentOn}
      request={{ params: { name }, ifMatch: undefined }}
      notification={enabled ? `The environment ${name} is deprecated.` : `The environment ${name} is in use again.`}
      onClose={onClose}
    >
      <p>
        {enabled
          ? 'New projects do not get it. Projects that use it keep it, and their flags there stay as they are.'
          : 'New projects get it.'}
      </p>
      <EnvironmentUsage {...environment} />
    </ConfirmOperationDialog>
  );
}

/** The environments in their order, with the dialogs that change them. */
export function EnvironmentsPage() {
  // The counts in the list decide whether an environment can be deleted, and writes outside of this browser change them, too: they are
  // read whenever the page is opened.
  const environments = useQuery({ ...operationQuery(ListEnvironments, {}), staleTime: 0 });
  const mayCall = useMayCall();
  const [isOrdering, setOrdering] = useState(false);
  const rows = environments.data?.environments;
  return (
    <AdminCatalogue
      id="environments"
      noun="environment"
      label="Environments"
      readOnlyWithout={UpdateEnvironment}
      buttons={
        mayCall(SetEnvironmentOrder) &&
        (rows?.length ?? 0) > 1 && <Button onPress={() => setOrdering(true)}>Change the order</Button>
      }
      query={{ ...environments, data: rows }}
      rowKey={({ name }) => name}
      name={({ name }) => name}
      text={({ type }) => type}
      columns={[
        {
          title: 'Name',
          cell: ({ name, enabled, protected: isProtected }) => (
            <span className={layout['inline']}>
              <strong>
                <EnvironmentName name={name} />
              </strong>
              {!enabled && <Badge tone="warning">deprecated</Badge>}
              {isProtected && <Badge>cannot be deleted</Badge>}
            </span>
          ),
        },
        { title: 'Type', cell: ({ type }) => typeName(type) },
        {
          title: 'Least approvals',
          cell: ({ requiredApprovals }) =>
            requiredApprovals == null ? (
              <span className={layout['muted']}>projects decide</span>
            ) : (
              <Badge tone="accent">{formatCount(requiredApprovals, 'approval')}</Badge>
            ),
        },
        { title: 'Projects', isNumber: true, cell: ({ projectCount = 0 }) => formatNumber(projectCount) },
        { title: 'Flags on', isNumber: true, cell: ({ enabledToggleCount = 0 }) => formatNumber(enabledToggleCount) },
        { title: 'API tokens', isNumber: true, cell: ({ apiTokenCount = 0 }) => apiTokenCount },
      ]}
      create={{
        operation: CreateEnvironment,
        values: { type: 'development', enabled: true },
        fields: [
          { name: 'name', label: 'Name', hint: texts.nameHint },
          typeField(),
          colorField,
          approvalsField,
          { name: 'enabled', label: 'New projects get it' },
        ],
      }}
      actions={[
        {
          id: 'edit',
          label: 'Edit',
          icon: 'edit',
          operation: UpdateEnvironment,
          dialog: (environment, onClose) => <EditDialog environment={environment} onClose={onClose} />,
        },
        {
          id: 'clone',
          label: 'Clone',
          icon: 'copy',
          operation: UpdateEnvironment,
          dialog: (environment, onClose) => <CloneDialog environment={environment} onClose={onClose} />,
        },
        {
          id: 'deprecateOrEnable',
          label: ({ enabled }) => (enabled ? 'Deprecate' : 'Use again'),
          operation: UpdateEnvironment,
          dialog: (environment, onClose) => <DeprecateOrEnableDialog environment={environment} onClose={onClose} />,
        },
      ]}
      remove={{
        operation: DeleteEnvironment,
        asksForName: true,
        request: ({ name }) => ({ params: { name }, ifMatch: undefined }),
        isImpossible: ({ protected: isProtected, projectCount = 0 }) => isProtected || projectCount > 0,
        usage: (environment) => <DeletionUsage {...environment} />,
      }}
      empty={{
        title: 'No environments yet',
        help: 'An environment is a place where flags are on or off on their own, such as production.',
      }}
      below={
        <Suspense>
          {isOrdering && rows !== undefined && (
            <EnvironmentOrderDialog environments={rows} onClose={() => setOrdering(false)} />
          )}
        </Suspense>
      }
    />
  );
}
