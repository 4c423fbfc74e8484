import { type AnyOperation, type Event, undoOperations } from '@bunting/contracts';
import { lazy, Suspense, useState } from 'react';
import { useMayCall } from '../../api/permissions.ts';
import { Button } from '../../components/buttons/button.tsx';

const UndoDialog = lazy(() =>
  import('../events/undo-dialog.tsx').then(({ UndoDialog: component }) => ({ default: component })),
);

/** Opens the undo of an event, where its kind can be undone and the user may do that. */
export function UndoButton({ event }: { readonly event: Event }) {
  const [isOpen, setOpen] = useState(false);
  const mayCall = useMayCall();
  const operation = (undoOperations as Partial<Record<string, AnyOperation>>)[event.type];
  const scope = { project: event.project ?? undefined, environment: event.environment ?? undefined };
  if (operation === undefined || !mayCall(operation, scope)) return null;
  return (
    <>
      <Button size="small" onPress={() => setOpen(true)}>
        Undo
      </Button>
      <Suspense>{isOpen && <UndoDialog event={event} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
