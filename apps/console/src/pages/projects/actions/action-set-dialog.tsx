import {
  type ActionKind,
  actionKinds,
  type ActionSet,
  type ActionSetBody,
  type Constraint,
  CreateActionSet,
  GetActionSet,
  type Json,
  ListServiceAccounts,
  ListSignalEndpoints,
  type MergeConflict,
  threeWayMerge,
  UpdateActionSet,
} from '@bunting/contracts';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { ApiError } from '../../../api/api-error.ts';
import { call, callWithEntityTag } from '../../../api/call.ts';
import { operationQuery, useEnvironments } from '../../../api/queries-and-mutations.ts';
import { Button, IconButton } from '../../../components/buttons/button.tsx';
import { ErrorNotice, Notice } from '../../../components/content/notice.tsx';
import { FormDialog } from '../../../components/dialogs/dialog.tsx';
import { MergeConflictDialog } from '../../../components/dialogs/merge-conflict-dialog.tsx';
import { Switch, TextField } from '../../../components/forms/fields.tsx';
import { Select } from '../../../components/forms/selects.tsx';
import layout from '../../../components/layout/layout.module.css';
import { notify } from '../../../shell/toasts.tsx';
import { ConstraintsEditor } from '../../strategy/constraints-editor.tsx';
import { useValueQuestion } from '../../strategy/use-value-question.ts';
import { actionLabels } from './action-phrase.ts';
import { isolated } from '../../../text/isolated.ts';

interface ActionSetDialogProps {
  readonly project: string;
  /** the set to edit; without it, one is created */
  readonly set?: ActionSet;
  readonly onClose: () => void;
}

interface DraftAction {
  readonly action: ActionKind;
  readonly executionParams: Readonly<Record<string, string>>;
}

const parameterLabels = { featureName: 'Flag', type: 'Type of the tag', value: 'Value of the tag' } as const;

interface ActionFieldsProps {
  readonly nth: number;
  readonly draft: DraftAction;
  readonly environments: readonly string[];
  readonly onChange: (draft: DraftAction) => void;
  readonly onRemove: (() => void) | undefined;
}

function ActionFields({ nth, draft, environments, onChange, onRemove }: ActionFieldsProps) {
  const { action, executionParams } = draft;
  const change = (name: string, value: string): void =>
    onChange({ ...draft, executionParams: { ...executionParams, [name]: value } });
  return (
    <li>
      <fieldset className={layout['stack']}>
        <legend className="visually-hidden">Action {nth + 1}</legend>
        <div className={layout['bar']}>
          <Select
            label={`Action ${nth + 1}`}
            options={Object.entries(actionLabels).map(([id, label]) => ({ id, label }))}
            value={action}
            onChange={(kind) => onChange({ ...draft, action: kind as ActionKind })}
          />
          {onRemove && <IconButton icon="remove" label={`Remove action ${nth + 1}`} onPress={onRemove} />}
        </div>
        {actionKinds[action].needs.map((name) =>
          name === 'environment' ? (
            <Select
              key={name}
              label="Environment"
              options={environments.map((id) => ({ id, label: id }))}
              value={executionParams[name] ?? null}
              onChange={(value) => change(name, value)}
            />
          ) : (
            <TextField
              key={name}
              label={parameterLabels[name]}
              value={executionParams[name] ?? ''}
              onChange={(value) => change(name, value)}
              isRequired
            />
          ),
        )}
      </fieldset>
    </li>
  );
}

function constraintsOf(match: ActionSetBody['match'] | undefined): Constraint[] {
  return Object.entries(match?.payload ?? {}).map(([contextName, filter]) => ({ ...filter, contextName }));
}

function filtersOf(constraints: readonly Constraint[]): ActionSetBody['match']['payload'] {
  return Object.fromEntries(
    constraints.map(({ contextName, values, ...filter }) => [
      contextName.trim(),
      { ...filter, ...(values && { values: values.filter(Boolean) }) } as ActionSetBody['match']['payload'][string],
    ]),
  );
}

/** What a request of the console sends of a set. */
function bodyOf({ name, description, enabled, actorId, match, actions }: ActionSet): ActionSetBody {
  return {
    name,
    description,
    enabled,
    actorId,
    match: { ...match, payload: filtersOf(constraintsOf(match)) },
    actions: actions.map(({ action, executionParams }, sortOrder) => ({ action, executionParams, sortOrder })),
  };
}

/** Creates or edits a set of actions: which signals cause them, as whom, and what is done. */
export function ActionSetDialog({ project, set, onClose }: ActionSetDialogProps) {
  const endpoints = useQuery(operationQuery(ListSignalEndpoints, {})).data?.signalEndpoints;
  const accounts = useQuery(operationQuery(ListServiceAccounts, {})).data?.serviceAccounts;
  const environments = (useEnvironments().data?.environments ?? []).map(({ name }) => name);
  const [name, setName] = useState(set?.name ?? '');
  const [description, setDescription] = useState(set?.description ?? '');
  const [enabled, setEnabled] = useState(set?.enabled ?? true);
  const [sourceId, setSourceId] = useState(set?.match.sourceId);
  const [actorId, setActorId] = useState(set?.actorId);
  const [constraints, setConstraints] = useState<readonly Constraint[]>(constraintsOf(set?.match));
  const [actions, setActions] = useState<readonly DraftAction[]>(
    (set?.actions as readonly DraftAction[] | undefined) ?? [{ action: 'TOGGLE_FEATURE_OFF', executionParams: {} }],
  );
  /** the set as it was when the dialog opened, or when it was merged with the edit of another person */
  const [base, setBase] = useState(set);
  const [conflict, setConflict] = useState<{
    readonly merged: Json;
    readonly conflicts: readonly MergeConflict[];
    readonly current: ActionSet;
  }>();
  const show = (body: ActionSetBody): void => {
    setName(body.name);
    setDescription(body.description ?? '');
    setEnabled(body.enabled);
    setSourceId(body.match.sourceId);
    setActorId(body.actorId);
    setConstraints(constraintsOf(body.match));
    setActions(body.actions as readonly DraftAction[]);
  };
  const { error, isPending, mutate } = useMutation<void, ApiError>({
    mutationFn: async () => {
      const body: ActionSetBody = {
        name,
        description,
        enabled,
        actorId: actorId ?? 0,
        match: { source: 'signal-endpoint', sourceId: sourceId ?? 0, payload: filtersOf(constraints) },
        actions: actions.map(({ action, executionParams }, sortOrder) => ({ action, executionParams, sortOrder })),
      };
      if (base === undefined) await call(CreateActionSet, { params: { projectId: project }, body });
      else {
        // What another person has saved meanwhile is kept; the user chooses where both differ.
        const params = { projectId: project, id: base.id };
        const { value: current, entityTag: ifMatch } = await callWithEntityTag(GetActionSet, { params });
        const bodies = [bodyOf(base), body, bodyOf(current)] as unknown as [Json, Json, Json];
        const { merged, conflicts } = threeWayMerge(...bodies);
        if (conflicts.length > 0) return setConflict({ merged: merged as Json, conflicts, current });
        await call(UpdateActionSet, { params, body: merged as unknown as ActionSetBody, ifMatch });
      }
      notify(`The actions ${isolated(name)} are saved.`);
      onClose();
    },
  });
  const isNameTaken = error?.kind === 'NameExistsError';
  const question = useValueQuestion();
  const paths = constraints.map(({ contextName }) => contextName.trim());
  const repeated = paths.find((path, index) => paths.indexOf(path) !== index);
  return (
    <FormDialog
      title={set === undefined ? 'Create actions' : `Edit the actions “${isolated(set.name)}”`}
      isWide
      onClose={onClose}
      onSubmit={() => {
        if (question.requireValues(constraints)) mutate();
      }}
      submit={set === undefined ? 'Create' : 'Save'}
      isPending={isPending}
      isDisabled={sourceId === undefined || actorId === undefined || repeated !== undefined}
    >
      {endpoints?.length === 0 && (
        <Notice tone="warning">There is no signal endpoint yet: create one in Administration, Signals.</Notice>
      )}
      {accounts?.length === 0 && (
        <Notice tone="warning">There is no service account yet: create one in Administration, Service accounts.</Notice>
      )}
      <TextField
        label="Name"
        value={name}
        error={isNameTaken ? error.message : undefined}
        onChange={setName}
        isRequired
        autoFocus
      />
      <TextField label="Description" value={description} onChange={setDescription} />
      <Select
        label="Signals of"
        options={(endpoints ?? []).map((endpoint) => ({ id: String(endpoint.id), label: endpoint.name }))}
        value={sourceId === undefined ? null : String(sourceId)}
        onChange={(id) => setSourceId(Number(id))}
      />
      <ConstraintsEditor isOfSignals question={question} constraints={constraints} onChange={setConstraints} />
      {repeated !== undefined && <Notice tone="danger">Two filters have the path “{repeated}”: one is enough.</Notice>}
      <Select
        label="Act as"
        hint="The service account needs the rights for what is done. What it may not do fails, and the run says why."
        options={(accounts ?? []).map((account) => ({
          id: String(account.id),
          label: account.name ?? account.username ?? String(account.id),
        }))}
        value={actorId === undefined ? null : String(actorId)}
        onChange={(id) => setActorId(Number(id))}
      />
      <ol className={layout['stack']} aria-label="Actions">
        {actions.map((draft, nth) => (
          <ActionFields
            key={nth}
            nth={nth}
            draft={draft}
            environments={environments}
            onChange={(changed) => setActions(actions.with(nth, changed))}
            onRemove={actions.length > 1 ? () => setActions(actions.toSpliced(nth, 1)) : undefined}
          />
        ))}
      </ol>
      <div>
        <Button
          size="small"
          icon="add"
          isDisabled={actions.length >= 10}
          onPress={() => setActions([...actions, { action: 'TAG_FEATURE', executionParams: {} }])}
        >
          Add an action
        </Button>
      </div>
      <Switch isSelected={enabled} onChange={setEnabled}>
        Act on signals
      </Switch>
      {!isNameTaken && <ErrorNotice error={error} />}
      {conflict !== undefined && (
        <MergeConflictDialog
          merged={conflict.merged}
          conflicts={conflict.conflicts}
          onClose={() => setConflict(undefined)}
          onMerge={(merged) => {
            show(merged as unknown as ActionSetBody);
            setBase(conflict.current);
            setConflict(undefined);
          }}
        />
      )}
    </FormDialog>
  );
}
