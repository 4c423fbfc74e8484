import { useState } from 'react';
import { FormDialog } from '../../components/dialogs/dialog.tsx';
import { TextField } from '../../components/forms/fields.tsx';

interface SaveViewDialogProps {
  readonly onSave: (name: string) => void;
  readonly onClose: () => void;
}

/** Asks for the name under which a filter and its order are kept in this browser. */
export function SaveViewDialog({ onSave, onClose }: SaveViewDialogProps) {
  const [name, setName] = useState('');
  return (
    <FormDialog
      title="Save this view"
      submit="Save"
      isPending={false}
      isDisabled={name.trim() === ''}
      onSubmit={() => {
        onSave(name.trim());
        onClose();
      }}
      onClose={onClose}
    >
      <TextField
        label="Name"
        hint="The filter and the order stay in this browser under this name."
        value={name}
        onChange={setName}
        isRequired
        autoFocus
      />
    </FormDialog>
  );
}
