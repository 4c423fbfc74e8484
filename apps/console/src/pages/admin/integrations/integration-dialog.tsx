import { type Addon, type AddonBody, type AddonProvider, CreateAddon, UpdateAddon } from '@bunting/contracts';
import { useState } from 'react';
import { useEnvironments, useOperationMutation, useProjects } from '../../../api/queries-and-mutations.ts';
import { Button } from '../../../components/buttons/button.tsx';
import { ErrorNotice } from '../../../components/content/notice.tsx';
import { Dialog } from '../../../components/dialogs/dialog.tsx';
import { Select, Switch, TextField } from '../../../components/forms/fields.tsx';
import { MultiComboBox } from '../../../components/forms/multi-combo-box.tsx';
import { notify } from '../../../shell/toasts.tsx';
import { nameOf } from './integration-name.ts';

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
  value,
  onChange,
}: {
  readonly parameter: Parameter;
  readonly value: string;
  readonly onChange: (value: string) => void;
}) {
  const { displayName, description, placeholder, required, sensitive, type } = parameter;
  const hint = sensitive
    ? `${description ?? ''} It is stored encrypted and not shown again; leave ***** to keep it.`.trim()
    : description;
  return (
    <TextField
      label={displayName}
      value={value}
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
  const change = (changed: Partial<AddonBody>): void => setBody((before) => ({ ...before, ...changed }));
  const create = useOperationMutation(CreateAddon, 'handled');
  const update = useOperationMutation(UpdateAddon, 'handled');
  const { error, isPending } = addon === undefined ? create : update;
  const provider = providers.find(({ name }) => name === body.provider);

  const save = async (event: React.FormEvent): Promise<void> => {
    event.preventDefault();
    try {
      const saved =
        addon === undefined
          ? await create.mutateAsync({ body })
          : await update.mutateAsync({ params: { id: addon.id }, body });
      notify(addon === undefined ? 'The integration is created.' : `${nameOf(saved)} is saved.`);
      onClose();
    } catch {
      // The dialog shows it.
    }
  };

  return (
    <Dialog
      title={addon === undefined ? 'Create an integration' : `Edit the integration “${nameOf(addon)}”`}
      isWide
      onClose={onClose}
      onSubmit={(event) => void save(event)}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button type="submit" variant="primary" isPending={isPending}>
            {addon === undefined ? 'Create' : 'Save'}
          </Button>
        </>
      }
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
      {provider?.parameters.map((parameter) => (
        <ParameterField
          key={parameter.name}
          parameter={parameter}
          value={String(body.parameters[parameter.name] ?? '')}
          onChange={(value) => change({ parameters: { ...body.parameters, [parameter.name]: value } })}
        />
      ))}
      <MultiComboBox
        label="Events"
        options={(provider?.events ?? []).map((type) => ({ id: type, label: type }))}
        value={body.events}
        onChange={(events) => change({ events: [...events] })}
        emptyText="No events: nothing is sent"
      />
      <MultiComboBox
        label="Projects"
        options={projects.map(({ id, name }) => ({ id, label: name, description: id }))}
        value={body.projects ?? []}
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
      {error !== null && <ErrorNotice error={error} />}
    </Dialog>
  );
}
