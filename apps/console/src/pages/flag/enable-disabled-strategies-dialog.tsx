import { Button } from '../../components/buttons/button.tsx';
import { ConfirmDialog } from '../../components/dialogs/dialog.tsx';
import { flagMessages } from '../../messages/flag.ts';

interface EnableDisabledStrategiesDialogProps {
  readonly environment: string;
  readonly onClose: () => void;
  readonly onEnable: (shouldActivateDisabledStrategies: boolean) => void;
}

/** Asks what should be on in an environment whose strategies are all disabled: these, or a default one. */
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
