import { ReviveProject } from '@bunting/contracts';
import { ConfirmOperationDialog } from '../../components/dialogs/confirm-operation-dialog.tsx';

interface ReviveProjectDialogProps {
  readonly id: string;
  readonly onClose: () => void;
}

/** Revives an archived project after the user has confirmed it. */
export function ReviveProjectDialog({ id, onClose }: ReviveProjectDialogProps) {
  return (
    <ConfirmOperationDialog
      title={`Revive the project “${id}”`}
      confirm="Revive it"
      operation={ReviveProject}
      request={{ params: { projectId: id } }}
      notification={`The project ${id} is back.`}
      onClose={onClose}
    >
      <p>If it is archived, it comes back as it was. Its flags stay archived.</p>
    </ConfirmOperationDialog>
  );
}
