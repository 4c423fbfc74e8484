import {
  type Addon,
  type AddonBody,
  type AddonProvider,
  CreateAddon,
  GetAddon,
  type Json,
  type MergeConflict,
  threeWayMerge,
  UpdateAddon,
} from '@bunting/contracts';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { call, callWithEntityTag } from '../../../api/call.ts';
import { usePermissionCheck } from '../../../api/permissions.ts';
import { useEnvironments, useProjects } from '../../../api/queries-and-mutations.ts';
import { ErrorNotice } from '../../../components/content/notice.tsx';
import { FormDialog } from '../../../components/dialogs/dialog.tsx';
import { MergeConflictDialog } from '../../../components/dialogs/merge-conflict-dialog.tsx';
import { Switch, TextField } from '../../../components/forms/fields.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { nameOf } from './integration-name.ts';
import { isolated } from '../../../text/isolated.ts';

interface IntegrationDialogProps {
  readonly providers: readonly AddonProvider[];
  /** the integration to edit; without it, one is created */
  readonly addon?: Addon;
  readonly onClose: () => void;
}

type Parameter = AddonProvider['parameters'][number];

/** What a new integration is told of at first: that flags are turned on and off. */
const firstEvents = ['feature-environment-enabled', 'feature-environment-disabled'];

function ParameterField({
  parameter,
  isStored,
  value,
  error,
  onChange,
}: {
  readonly parameter: Parameter;
  /** whether the integration exists, and with it what was entered before */
  readonly isStored: boolean;
  readonly value: string;
  readonly error: string | undefined;
  readonly onChange: (value: string) => void;
}) {
  const { displayName, description, placeholder, required, sensitive, type } = parameter;
  const secrecy = `It is stored encrypted and not shown again${isStored ? '; leave ***** to keep it' : ''}.`;
  const hint = sensitive ? `${description ?? ''} ${secrecy}`.trim() : description;
  return (
    <TextField
      label={displayName}
      value={value}
      error={error}
      onChange={onChange}
      isRequired={required}
      autoComplete="off"
      {...(hint !== undefined && { hint })}
      {...(placeholder !== undefined && { placeholder })}
      {...(type === 'textfield' && { rows: 4 })}
    />
  );
}

/** Creates or edits an integration, with the fields of its kind. */
export function IntegrationDialog({ providers, addon, onClose }: IntegrationDialogProps) {
  const projects = useProjects().data?.projects ?? [];
  const environments = useEnvironments().data?.environments ?? [];
  const isAdministrator = usePermissionCheck()('ADMIN');
  const [body, setBody] = useState<AddonBody>(
    addon ?? {
      provider: 'webhook',
      enabled: true,
      parameters: {},
      events: firstEvents,
      projects: [],
      environments: [],
    },
  );
  /** the integration as it was when the dialog opened, or when it was merged with the edit of another person */
  const [base, setBase] = useState(addon);
  const [conflict, setConflict] = useState<{
    readonly merged: Json;
    readonly conflicts: readonly MergeConflict[];
    readonly current: Addon;
  }>();
  const change = (changed: Partial<AddonBody>): void => setBody((before) => ({ ...before, ...changed }));
  const provider = providers.find(({ name }) => name === body.provider);
  // Whoever knows the secret that signs reviews can review as everybody who has linked a Slack account.
  const parameters = (provider?.parameters ?? []).filter(({ name }) => isAdministrator || name !== 'signingSecret');

  const { error, isPending, mutate } = useMutation<void, ApiError>({
    mutationFn: async () => {
      if (base === undefined) {
        await call(CreateAddon, { body });
        notify('The integration is created.');
        return onClose();
      }
      // What another person has saved meanwhile is kept; the user chooses where both differ.
      const params = { id: base.id };
      const { value: current, entityTag: ifMatch } = await callWithEntityTag(GetAddon, { params });
      const { merged, conflicts } = threeWayMerge(base as Json, body as Json, current as Json);
      if (conflicts.length > 0) return setConflict({ merged: merged as Json, conflicts, current });
      const saved = await call(UpdateAddon, { params, body: merged as unknown as AddonBody, ifMatch });
      notify(`${isolated(nameOf(saved))} is saved.`);
      onClose();
    },
  });

  /** what was refused of a field of the body */
  const errorOf = (field: string): string | undefined =>
    error?.details.find(({ path }) => path === `/body/${field}`)?.message;
  const fields = ['events', 'projects', ...parameters.map(({ name }) => `parameters/${name}`)];
  const shown = new Set(fields.map((field) => `/body/${field}`));
  /** whether all that was refused stands beside its field */
  const isBesideFields =
    error !== null && error.details.length > 0 && error.details.every(({ path }) => shown.has(path ?? ''));

  return (
    <FormDialog
      title={addon === undefined ? 'Create an integration' : `Edit the integration “${isolated(nameOf(addon))}”`}
      isWide
      onClose={onClose}
      onSubmit={mutate}
      submit={addon === undefined ? 'Create' : 'Save'}
      isPending={isPending}
    >
      {addon === undefined && (
        <Select
          label="Kind"
          options={providers.map(({ name, displayName, description }) => ({
            id: name,
            label: displayName,
            description,
          }))}
          value={body.provider}
          onChange={(name) => change({ provider: name, parameters: {} })}
        />
      )}
      <TextField
        label="Description"
        hint="What it is for; the list shows it as the name"
        value={body.description ?? ''}
        onChange={(description) => change({ description })}
        autoFocus
      />
      {parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          isStored={addon !== undefined}
          value={String(body.parameters[parameter.name] ?? '')}
          error={errorOf(`parameters/${parameter.name}`)}
          onChange={(value) => change({ parameters: { ...body.parameters, [parameter.name]: value } })}
        />
      ))}
      <MultiComboBox
        label="Events"
        // The events of no project are among all, and only administrators may see those.
        options={(provider?.events ?? [])
          .filter((type) => type !== '*' || isAdministrator)
          .map((type) => ({ id: type, label: type === '*' ? 'All events' : type }))}
        value={body.events}
        error={errorOf('events')}
        onChange={(events) => change({ events: [...events] })}
        emptyText="No events: nothing is sent"
      />
      <MultiComboBox
        label="Projects"
        options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
        value={body.projects ?? []}
        error={errorOf('projects')}
        onChange={(chosen) => change({ projects: [...chosen] })}
        emptyText="All projects"
      />
      <MultiComboBox
        label="Environments"
        options={environments.map(({ name }) => ({ id: name, label: name }))}
        value={body.environments ?? []}
        onChange={(chosen) => change({ environments: [...chosen] })}
        emptyText="All environments"
      />
      <Switch isSelected={body.enabled} onChange={(enabled) => change({ enabled })}>
        Send events
      </Switch>
      {!isBesideFields && <ErrorNotice error={error} />}
      {conflict !== undefined && (
        <MergeConflictDialog
          merged={conflict.merged}
          conflicts={conflict.conflicts}
          onClose={() => setConflict(undefined)}
          onMerge={(merged) => {
            setBody(merged as unknown as AddonBody);
            setBase(conflict.current);
            setConflict(undefined);
          }}
        />
      )}
    </FormDialog>
  );
}
