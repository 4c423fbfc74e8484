import type { Event } from '@bunting/contracts';
import { Suspense, useState } from 'react';
import { Button } from '../../components/buttons/button.tsx';
import { useUndoRights } from '../events/undo-rights.ts';
import { lazyPart } from '../../components/content/lazy-part.tsx';

const UndoDialog = lazyPart(() => import('../events/undo-dialog.tsx').then(({ UndoDialog }) => UndoDialog));

/** Opens the undo of an event, where its kind can be undone and the user may do or propose that. */
export function UndoButton({ event }: { readonly event: Event }) {
  const [isOpen, setOpen] = useState(false);
  if (!useUndoRights(event).mayUndo) return null;
  return (
    <>
      <Button size="small" onPress={() => setOpen(true)}>
        Undo
      </Button>
      <Suspense>{isOpen && <UndoDialog event={event} onClose={() => setOpen(false)} />}</Suspense>
    </>
  );
}
