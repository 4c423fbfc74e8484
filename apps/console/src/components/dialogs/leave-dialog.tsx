import { ConfirmDialog } from './dialog.tsx';

/** Asks whether to leave a page with an edit that is not saved. */
export function LeaveDialog({ onStay, onLeave }: { readonly onStay: () => void; readonly onLeave: () => void }) {
  return (
    <ConfirmDialog title="Leave without saving?" confirm="Leave" isDangerous onClose={onStay} onConfirm={onLeave}>
      <p>What you have changed here is not saved.</p>
    </ConfirmDialog>
  );
}
