import { Button } from '../../components/buttons/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';

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
    title={`Turn on in ${environment}`}
    confirm="Enable all strategies"
    onClose={onClose}
    onConfirm={() => onEnable(true)}
  >
    <p>All strategies are disabled here, so the flag would be on for no user.</p>
    <Button onPress={() => onEnable(false)}>Add a strategy for everybody instead</Button>
  </ConfirmDialog>
);
