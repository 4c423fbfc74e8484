import { useBlocker } from '@tanstack/react-router';
import { Suspense, useEffect } from 'react';
import { lazyPart } from '../content/lazy-part.tsx';
import { UnfinishedForm } from './unfinished-forms.tsx';

const loadConfirmDialog = () => import('./dialog.tsx').then((module) => module.ConfirmDialog);
const ConfirmDialog = lazyPart(loadConfirmDialog);

/** Asks for a confirmation when the user leaves the page with an edit that is not saved, and keeps the page when its subject is gone. */
export function LeaveQuestion({ isUnsaved }: { readonly isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    withResolver: true,
    enableBeforeUnload: () => isUnsaved,
  });
  // Loaded with the edit: the server may be away when the user leaves.
  useEffect(() => {
    if (isUnsaved) loadConfirmDialog().catch(() => undefined);
  }, [isUnsaved]);
  return (
    <>
      <UnfinishedForm isUnfinished={isUnsaved} />
      <Suspense>
        {blocker.status === 'blocked' && (
          <ConfirmDialog
            title="Leave without saving?"
            confirm="Leave"
            isDangerous
            onClose={blocker.reset}
            onConfirm={blocker.proceed}
          >
            <p>What you have changed here is not saved.</p>
          </ConfirmDialog>
        )}
      </Suspense>
    </>
  );
}
