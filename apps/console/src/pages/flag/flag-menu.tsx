import { type Feature, ReviveFeature } from '@bunting/contracts';
import { useState } from 'react';
import { usePermissionCheck } from '../../api/use-permission-check.ts';
import { useOperationMutation } from '../../api/queries-and-mutations.ts';
import { Button } from '../../components/buttons/button.tsx';
import { Menu, type MenuEntry } from '../../components/buttons/menu.tsx';
import { notify } from '../../shell/toasts.tsx';
import { ArchiveFlagDialog, CopyFlagDialog, DeleteFlagDialog, MoveFlagDialog } from './flag-menu-dialogs.tsx';

interface FlagMenuProps {
  readonly feature: Feature;
  readonly project: string;
}

/** The menu of actions on a whole flag, in contrast to its environments. */
export const FlagMenu = ({ feature: { name, archived = false, children = [] }, project }: FlagMenuProps) => {
  const [dialog, setDialog] = useState<'archive' | 'delete' | 'copy' | 'move' | undefined>();
  const hasPermission = usePermissionCheck();
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
          isDisabled: !hasPermission('CREATE_FEATURE', { project }),
          run: () => setDialog('copy'),
        },
        {
          id: 'move',
          label: 'Move to another project',
          isDisabled: !hasPermission('MOVE_FEATURE_TOGGLE', { project }),
          run: () => setDialog('move'),
        },
        {
          id: 'archive',
          label: 'Archive',
          icon: 'archive',
          isDisabled: !hasPermission('DELETE_FEATURE', { project }),
          run: () => setDialog('archive'),
        },
      ];

  const dialogProps = { project, name, onClose: () => setDialog(undefined) };
  return (
    <>
      <Menu label="Actions" entries={entries}>
        <Button icon="more">Actions</Button>
      </Menu>
      {dialog === 'archive' && <ArchiveFlagDialog {...dialogProps} dependents={children} />}
      {dialog === 'delete' && <DeleteFlagDialog {...dialogProps} />}
      {dialog === 'copy' && <CopyFlagDialog {...dialogProps} />}
      {dialog === 'move' && <MoveFlagDialog {...dialogProps} />}
    </>
  );
};
