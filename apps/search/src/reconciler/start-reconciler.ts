import { type Loop, startLoop } from '@bunting/runtime';
import type { KeptStates } from '../persistence/stored-states.ts';
import type { Reconciled } from './reconciler.ts';

export interface StartReconcilerOptions {
  readonly reconcile: (after: string) => Promise<Reconciled>;
  readonly kept: Pick<KeptStates, 'claim' | 'comparedUpTo'>;
  /** milliseconds between comparisons; 0 for none */
  readonly everyMs: number;
  readonly warn: (message: string) => void;
  readonly tell: (done: Reconciled) => void;
}

const mostNamed = 5;
/** How often a process tries to be the one that compares. */
const claimingMs = 10_000;

/** Compares the documents with the features service again and again; of several processes, one at a time. */
export const startReconciler = ({
  reconcile,
  kept,
  everyMs,
  warn,
  tell,
}: StartReconcilerOptions): Pick<Loop, 'stop'> => {
  const round = async (): Promise<void> => {
    const after = await kept.claim(everyMs);
    if (after === undefined) return;
    const done = await reconcile(after);
    await kept.comparedUpTo(done.comparedUpTo);
    tell(done);
    const { repaired } = done;
    if (repaired.length > 0) {
      const more = repaired.length > mostNamed ? ` and ${repaired.length - mostNamed} more` : '';
      warn(
        `What is searched was not what there is, and was put right: ${repaired.slice(0, mostNamed).join(', ')}${more}.`,
      );
    }
  };

  if (everyMs === 0) return { stop: () => Promise.resolve() };
  return startLoop({
    name: 'The comparison of search documents with the features service',
    run: round,
    intervalMs: Math.min(everyMs, claimingMs),
    warn,
  });
};
