import { lazyRouteComponent, useBlocker } from '@tanstack/react-router';
import { Suspense } from 'react';

const LeaveDialog = lazyRouteComponent(() => import('./leave-dialog.tsx'), 'LeaveDialog');

/** Asks for a confirmation when the user leaves the page with an edit that is not saved. */
export function LeaveQuestion({ isUnsaved }: { readonly isUnsaved: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => isUnsaved && current.pathname !== next.pathname,
    withResolver: true,
    enableBeforeUnload: () => isUnsaved,
  });
  return (
    <Suspense>
      {blocker.status === 'blocked' && <LeaveDialog onStay={blocker.reset} onLeave={blocker.proceed} />}
    </Suspense>
  );
}
