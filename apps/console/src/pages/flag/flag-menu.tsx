import {
  CloneFeature,
  DeleteFeature,
  type Feature,
  GetEditStatus,
  MoveFeature,
  ReviveFeature,
} from '@bunting/contracts';
import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { usePermissionCheck } from '../../api/permissions.ts';
import { operationQuery, useOperationMutation, useProjects } from '../../api/queries-and-mutations.ts';
import { ProtectionNotice, useEditProtection, useMayEdit } from '../../changes/edit-protection.tsx';
import { notifySubmitted, useSubmitChanges } from '../../changes/submit-changes.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Menu, type MenuEntry } from '../../components/buttons/menu.tsx';
import { ErrorNotice } from '../../components/content/notice.tsx';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';
import { ConfirmDialog, Dialog } from '../../components/dialogs/dialog.tsx';
import { RequestBodyDialog } from '../../components/forms/request-body-form.tsx';
import { ComboBox } from '../../components/forms/selects.tsx';
import { usePageActions } from '../../shell/page-actions.ts';
import { notify } from '../../shell/toasts.tsx';
import { LastAskers } from './last-askers.tsx';

interface FlagDialogProps {
  readonly project: string;
  readonly name: string;
  readonly onClose: () => void;
}

/** Calls `next` after the command has succeeded. An error is ignored here, because the dialog shows that of its mutation. */
function afterSuccess<Reply>(command: Promise<Reply>, next: (reply: Reply) => void): void {
  return void command.then(next, () => undefined);
}

function useOpenFlag() {
  const navigate = useNavigate();
  return (project: string, feature: string): void =>
    void navigate({ to: '/projects/$project/features/$feature', params: { project, feature } });
}

interface ArchiveFlagDialogProps extends FlagDialogProps {
  /** the flags that depend on the flag */
  readonly dependents: readonly string[];
}

/** Archives a flag, or proposes to archive it where one of its environments is protected. */
function ArchiveFlagDialog({ project, name, dependents, onClose }: ArchiveFlagDialogProps) {
  const archive = useSubmitChanges(project);
  const protection = useEditProtection(project);
  const archiveFlag = (isDirect: boolean): void =>
    afterSuccess(
      archive.mutateAsync({ changes: [{ action: 'archiveFeature', feature: name }], isDirect }),
      (outcome) => {
        onClose();
        notifySubmitted(outcome, 'The flag is archived.');
      },
    );
  return (
    <ConfirmDialog
      title={`Archive ${name}?`}
      confirm={protection.maySkip ? 'Archive' : 'Propose'}
      isDangerous
      isPending={archive.isPending}
      isDisabled={protection.isLoading || dependents.length > 0}
      onClose={onClose}
      onConfirm={() => archiveFlag(protection.isDirect)}
    >
      <p>SDKs stop receiving it, and applications use the default of their code. An archived flag can be revived.</p>
      <LastAskers project={project} name={name} />
      {dependents.length > 0 ? (
        <p>It cannot be archived while these flags depend on it: {dependents.join(', ')}.</p>
      ) : (
        <ProtectionNotice protection={protection} isPending={archive.isPending} onPropose={() => archiveFlag(false)} />
      )}
      <ErrorNotice error={archive.error} />
    </ConfirmDialog>
  );
}

/** Deletes an archived flag for good. */
function DeleteFlagDialog({ project, name, onClose }: FlagDialogProps) {
  const navigate = useNavigate();
  return (
    <ConfirmOperationDialog
      title={`Delete the flag “${name}” for good`}
      confirm="Delete for good"
      isDangerous
      typedName={name}
      operation={DeleteFeature}
      request={{ params: { featureName: name } }}
      notification={`The flag ${name} is deleted.`}
      onClose={onClose}
      onDone={() => void navigate({ to: '/projects/$project/flags', params: { project } })}
    >
      <p>Its strategies, variants and numbers of use go with it. Its events stay in the event log.</p>
    </ConfirmOperationDialog>
  );
}

/** Copies a flag within its project, under another name. */
function CopyFlagDialog({ project, name, onClose }: FlagDialogProps) {
  const openFlag = useOpenFlag();
  return (
    <RequestBodyDialog
      title="Copy the flag"
      submit="Create"
      operation={CloneFeature}
      request={{ params: { projectId: project, featureName: name } }}
      values={{ name: `${name}-copy` }}
      fields={[{ name: 'name', label: 'New name' }]}
      notification={({ name: copyName }) => `The flag ${String(copyName)} is created.`}
      onDone={(_body, copy) => openFlag(project, copy.name)}
      onClose={onClose}
    />
  );
}

/** Moves a flag to another project. */
function MoveFlagDialog({ project, name, onClose }: FlagDialogProps) {
  const openFlag = useOpenFlag();
  const hasPermission = usePermissionCheck();
  const projects = (useProjects().data?.projects ?? []).filter(
    ({ id }) => id !== project && hasPermission('MOVE_FEATURE_TOGGLE', { project: id }),
  );
  // A flag moves into no project with an environment that is protected from the user.
  const guarded = useQuery({
    ...operationQuery(GetEditStatus, { body: { projects: projects.map(({ id }) => id).slice(0, 300), features: [] } }),
    enabled: projects.length > 0,
  }).data?.protectedEnvironments.filter((scope) => !hasPermission('SKIP_CHANGE_REQUEST', scope));
  const [target, setTarget] = useState<string>();
  const move = useOperationMutation(MoveFeature, 'handled');
  return (
    <Dialog
      title={`Move ${name} to another project`}
      onClose={onClose}
      footer={
        <>
          <Button onPress={onClose}>Cancel</Button>
          <Button
            variant="primary"
            isDisabled={target === undefined}
            isPending={move.isPending}
            onPress={() => {
              if (target === undefined) return;
              const params = { projectId: project, featureName: name };
              afterSuccess(move.mutateAsync({ params, body: { newProjectId: target }, ifMatch: undefined }), () =>
                openFlag(target, name),
              );
            }}
          >
            Move to another project
          </Button>
        </>
      }
    >
      <p>The environments of the other project must fit, and its permissions hold from then on.</p>
      <ComboBox
        label="Project"
        options={projects
          .filter(({ id }) => guarded?.some((scope) => scope.project === id) !== true)
          .map(({ id, name: label }) => ({ id, label }))}
        value={target ?? null}
        onChange={setTarget}
        autoFocus
      />
      <ErrorNotice error={move.error} />
    </Dialog>
  );
}

interface FlagMenuProps {
  readonly feature: Feature;
  readonly project: string;
}

/** The menu of actions on a whole flag, in contrast to its environments. */
export function FlagMenu({ feature: { name, archived = false, children = [] }, project }: FlagMenuProps) {
  const [dialog, setDialog] = useState<'archive' | 'delete' | 'copy' | 'move' | undefined>();
  const hasPermission = usePermissionCheck();
  const mayEdit = useMayEdit(project);
  // A copy and a move are in no change request.
  const { maySkip } = useEditProtection(project);
  const revive = useOperationMutation(ReviveFeature, 'notified');
  const entries: MenuEntry[] = archived
    ? [
        {
          id: 'revive',
          label: 'Revive',
          isDisabled: !hasPermission('UPDATE_FEATURE', { project }),
          run: () =>
            revive.mutate(
              { params: { featureName: name } },
              { onSuccess: () => notify('The flag is back, turned off in all environments.') },
            ),
        },
        {
          id: 'delete',
          label: 'Delete for good',
          icon: 'remove',
          isDisabled: !hasPermission('DELETE_FEATURE', { project }),
          run: () => setDialog('delete'),
        },
      ]
    : [
        {
          id: 'copy',
          label: 'Copy the flag',
          icon: 'copy',
          isDisabled: !(maySkip && hasPermission('CREATE_FEATURE', { project })),
          run: () => setDialog('copy'),
        },
        {
          id: 'move',
          label: 'Move to another project',
          isDisabled: !(maySkip && hasPermission('MOVE_FEATURE_TOGGLE', { project })),
          run: () => setDialog('move'),
        },
        {
          id: 'archive',
          label: 'Archive',
          icon: 'archive',
          isDisabled: !mayEdit('DELETE_FEATURE'),
          run: () => setDialog('archive'),
        },
      ];

  const trigger = useRef<HTMLSpanElement>(null);
  const openMenu = (): void => {
    const button = trigger.current?.querySelector('button');
    // It gets the focus back when the menu closes.
    button?.focus();
    button?.click();
  };
  usePageActions([
    { id: 'flag.actions', title: 'Actions of the flag', key: '.', isShortcutOnly: true, run: openMenu },
    ...entries.flatMap(({ id, label, isDisabled = false, run }) =>
      isDisabled ? [] : [{ id: `flag.${id}`, title: `${label}: ${name}`, run }],
    ),
  ]);

  const dialogProps = { project, name, onClose: () => setDialog(undefined) };
  return (
    <>
      <span ref={trigger}>
        <Menu label="Actions" entries={entries}>
          <Button icon="more">Actions</Button>
        </Menu>
      </span>
      {dialog === 'archive' && <ArchiveFlagDialog {...dialogProps} dependents={children} />}
      {dialog === 'delete' && <DeleteFlagDialog {...dialogProps} />}
      {dialog === 'copy' && <CopyFlagDialog {...dialogProps} />}
      {dialog === 'move' && <MoveFlagDialog {...dialogProps} />}
    </>
  );
}
