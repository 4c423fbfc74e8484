import {
  CloneFeature,
  DeleteFeature,
  type Feature,
  GetFeature,
  MoveFeature,
  ReviveFeature,
  SearchFeatures,
} from '@bunting/contracts';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { usePermissionCheck } from '../../api/permission-check.ts';
import { useCommand, useProjects } from '../../api/queries.ts';
import { Button } from '../../components/buttons/button.tsx';
import { ErrorNotice } from '../../components/content/content.tsx';
import { ConfirmDialog, Dialog } from '../../components/dialogs/dialog.tsx';
import { ComboBox, TextField } from '../../components/forms/fields.tsx';
import { Menu, type MenuEntry } from '../../components/buttons/menu.tsx';
import { flagMessages } from '../../messages/flag.ts';
import { messages } from '../../messages/shared.ts';
import { notify } from '../../shell/toasts.tsx';
import { useApplyChanges } from '../../strategies/apply-change.ts';
import { ProtectionNotice, useProtection } from '../../strategies/protection-notices.tsx';

interface FlagMenuProps {
  readonly feature: Feature;
  readonly project: string;
}

/** What can be done with a flag as a whole. */
export const FlagMenu = ({ feature: { name, archived = false, children = [] }, project }: FlagMenuProps) => {
  const [dialog, setDialog] = useState<'archive' | 'delete' | 'copy' | 'move' | undefined>();
  const [target, setTarget] = useState<string>('');
  const navigate = useNavigate();
  const may = usePermissionCheck();
  const projects = useProjects();
  const params = { projectId: project, featureName: name };
  const archive = useApplyChanges(project);
  const protection = useProtection(project);
  const revive = useCommand(ReviveFeature, [GetFeature, SearchFeatures]);
  const remove = useCommand(DeleteFeature, [SearchFeatures]);
  const clone = useCommand(CloneFeature, [SearchFeatures]);
  const move = useCommand(MoveFeature, [SearchFeatures]);
  const pending = archive.isPending || remove.isPending || clone.isPending || move.isPending;
  const error = archive.error ?? remove.error ?? clone.error ?? move.error;
  const open = (which: NonNullable<typeof dialog>): void => {
    for (const command of [archive, remove, clone, move]) command.reset();
    setTarget(which === 'copy' ? `${name}-copy` : '');
    setDialog(which);
  };
  const close = (): void => setDialog(undefined);
  const go = (toProject: string, feature: string): void =>
    void navigate({ to: '/projects/$project/features/$feature', params: { project: toProject, feature } });

  const archiveFlag = (isDirect: boolean): void =>
    archive.mutate(
      { environment: protection.environment, changes: [{ action: 'archiveFeature', feature: name }], isDirect },
      {
        onSuccess: ({ kind }) => {
          close();
          notify(kind === 'made' ? flagMessages.archivedNow : flagMessages.proposed(protection.environment));
        },
      },
    );

  const entries: MenuEntry[] = archived
    ? [
        {
          id: 'revive',
          label: flagMessages.revive,
          isDisabled: !may('UPDATE_FEATURE', { project }),
          run: () =>
            revive.mutate({ params: { featureName: name } }, { onSuccess: () => notify(flagMessages.revived) }),
        },
        {
          id: 'delete',
          label: flagMessages.deleteForEver,
          icon: 'remove',
          isDisabled: !may('DELETE_FEATURE', { project }),
          run: () => open('delete'),
        },
      ]
    : [
        {
          id: 'copy',
          label: flagMessages.copyFlag,
          icon: 'copy',
          isDisabled: !may('CREATE_FEATURE', { project }),
          run: () => open('copy'),
        },
        {
          id: 'move',
          label: flagMessages.move,
          isDisabled: !may('MOVE_FEATURE_TOGGLE', { project }),
          run: () => open('move'),
        },
        {
          id: 'archive',
          label: flagMessages.archive,
          icon: 'archive',
          isDisabled: !may('DELETE_FEATURE', { project }),
          run: () => open('archive'),
        },
      ];

  return (
    <>
      <Menu label={flagMessages.actions} entries={entries}>
        <Button icon="more">{flagMessages.actions}</Button>
      </Menu>
      {dialog === 'archive' && (
        <ConfirmDialog
          title={flagMessages.archiveTitle(name)}
          confirm={protection.maySkip ? flagMessages.archive : flagMessages.propose}
          isDangerous
          isPending={pending}
          isDisabled={protection.isLoading}
          onClose={close}
          onConfirm={() => archiveFlag(protection.maySkip)}
        >
          <p>{flagMessages.archiveExplained}</p>
          {children.length > 0 && <p>{flagMessages.hasChildren(children)}</p>}
          <ProtectionNotice protection={protection} isPending={pending} onPropose={() => archiveFlag(false)} />
          {error !== null && <ErrorNotice error={error} />}
        </ConfirmDialog>
      )}
      {dialog === 'delete' && (
        <ConfirmDialog
          title={flagMessages.deleteTitle(name)}
          confirm={flagMessages.deleteForEver}
          isDangerous
          isPending={pending}
          onClose={close}
          onConfirm={() =>
            remove.mutate(
              { params: { featureName: name } },
              { onSuccess: () => void navigate({ to: '/projects/$project/flags', params: { project } }) },
            )
          }
        >
          <p>{flagMessages.deleteExplained}</p>
          {error !== null && <ErrorNotice error={error} />}
        </ConfirmDialog>
      )}
      {dialog === 'copy' && (
        <Dialog
          title={flagMessages.copyFlag}
          onClose={close}
          onSubmit={(event) => {
            event.preventDefault();
            clone.mutate({ params, body: { name: target } }, { onSuccess: () => go(project, target) });
          }}
          footer={
            <>
              <Button onPress={close}>{messages.common.cancel}</Button>
              <Button type="submit" variant="primary" isPending={pending}>
                {messages.common.create}
              </Button>
            </>
          }
        >
          <TextField label={flagMessages.newName} value={target} onChange={setTarget} isRequired autoFocus />
          {error !== null && <ErrorNotice error={error} />}
        </Dialog>
      )}
      {dialog === 'move' && (
        <Dialog
          title={flagMessages.moveTitle(name)}
          onClose={close}
          footer={
            <>
              <Button onPress={close}>{messages.common.cancel}</Button>
              <Button
                variant="primary"
                isDisabled={target === ''}
                isPending={pending}
                onPress={() =>
                  move.mutate({ params, body: { newProjectId: target } }, { onSuccess: () => go(target, name) })
                }
              >
                {flagMessages.move}
              </Button>
            </>
          }
        >
          <p>{flagMessages.moveExplained}</p>
          <ComboBox
            label={messages.shell.project}
            options={(projects.data?.projects ?? [])
              .filter(({ id }) => id !== project)
              .map(({ id, name: label }) => ({ id, label }))}
            value={target === '' ? null : target}
            onChange={setTarget}
            autoFocus
          />
          {error !== null && <ErrorNotice error={error} />}
        </Dialog>
      )}
    </>
  );
};
