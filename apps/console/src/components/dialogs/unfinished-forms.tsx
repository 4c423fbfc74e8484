import { useEffect, useState } from 'react';
import { createStore, useStore } from '../../store.ts';
import { Notice } from '../content/notice.tsx';

/** How many forms a person fills in at the moment. */
const unfinishedForms = createStore(0);
/** What has become of the subject of the page that such a form keeps. */
const fate = createStore<string | undefined>(undefined);

/** Stands in a form: while it is unfinished, it keeps the page on which it is, and says it when the subject of that page is gone. */
export function UnfinishedForm({ isUnfinished }: { readonly isUnfinished: boolean }) {
  const said = useStore(fate);
  useEffect(() => {
    if (!isUnfinished) return undefined;
    unfinishedForms.set((count) => count + 1);
    return () => unfinishedForms.set((count) => count - 1);
  }, [isUnfinished]);
  return isUnfinished && said !== undefined && <Notice tone="danger">{said}</Notice>;
}

/**
 * Whether a page stays although its subject is gone, because a person fills in a form of it: what was typed can be copied, and nothing else
 * replaces the page before the form is closed.
 * @param subject what the page shows, as in `project`
 */
export function useKeptPage(isGone: boolean, subject: string): boolean {
  const isFilledIn = useStore(unfinishedForms) > 0;
  // Once something else is in its place, a form of that keeps nothing.
  const [isReplaced, setReplaced] = useState(isGone);
  const isKept = isGone && isFilledIn && !isReplaced;
  if (isReplaced !== (isGone && !isKept)) setReplaced(isGone && !isKept);
  useEffect(() => {
    if (!isKept) return undefined;
    fate.set(
      `Somebody has archived or deleted the ${subject} meanwhile, or it is hidden from you now. Saving may fail: copy what you still need.`,
    );
    return () => fate.set(undefined);
  }, [isKept, subject]);
  return isKept;
}
