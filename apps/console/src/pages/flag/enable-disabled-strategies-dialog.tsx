import { Button } from '../../components/buttons/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { flagMessages } from '../../messages/flag.ts';

interface EnableDisabledStrategiesDialogProps {
  readonly environment: string;
  readonly onClose: () => void;
  readonly onEnable: (shouldActivateDisabledStrategies: boolean) => void;
}

/** Asks how to turn a flag on where all of its strategies are disabled: by enabling them, or by adding a default strategy. */
export const EnableDisabledStrategiesDialog = ({
  environment,
  onClose,
  onEnable,
}: EnableDisabledStrategiesDialogProps) => (
  <ConfirmDialog
    title={flagMessages.turnOnTitle(environment)}
    confirm={flagMessages.enableAll}
    onClose={onClose}
    onConfirm={() => onEnable(true)}
  >
    <p>{flagMessages.allDisabled}</p>
    <Button onPress={() => onEnable(false)}>{flagMessages.addDefault}</Button>
  </ConfirmDialog>
);
