import { ReviveProject } from '@bunting/contracts';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';
import { projectsMessages as text } from '../../messages/projects.ts';

interface ReviveProjectDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Revives an archived project after the user has confirmed it. */
export const ReviveProjectDialog = ({ id, onClose }: ReviveProjectDialogProps) => (
  <ConfirmOperationDialog
    title={text.reviveTitle(id)}
    confirm={text.revive}
    operation={ReviveProject}
    request={{ params: { projectId: id } }}
    notification={text.revived(id)}
    onClose={onClose}
  >
    <p>{text.reviveHelp}</p>
  </ConfirmOperationDialog>
);
