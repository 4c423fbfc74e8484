import { type Log, type Loop, startLoop } from '@bunting/runtime';
import type { ReconciliationRepository } from '../persistence/reconciliation-repository.ts';
import type { ReconciliationResult } from './reconciler.ts';

interface StartReconcilerOptions {
  readonly reconcile: (after: string) => Promise<ReconciliationResult>;
  readonly stored: Pick<ReconciliationRepository, 'claim' | 'saveComparedUpTo'>;
  /** milliseconds between comparisons; 0 for none */
  readonly intervalMs: number;
  readonly log: Log;
  readonly onReconciled: (result: ReconciliationResult) => void;
}

const maxLoggedIds = 5;
/** How often each process tries to claim the next comparison. */
const claimIntervalMs = 10_000;

/** Reconciles the documents with the features service periodically, in one process of several at a time. */
export const startReconciler = ({
  reconcile,
  stored,
  intervalMs,
  log,
  onReconciled,
}: StartReconcilerOptions): Pick<Loop, 'stop'> => {
  const reconcileIfDue = async (): Promise<void> => {
    const after = await stored.claim(intervalMs);
    if (after === undefined) return;
    const result = await reconcile(after);
    await stored.saveComparedUpTo(result.comparedUpTo);
    onReconciled(result);
    const { repaired } = result;
    if (repaired.length > 0) {
      const more = repaired.length > maxLoggedIds ? ` and ${repaired.length - maxLoggedIds} more` : '';
      log.warn(
        `Repaired ${repaired.length} search documents that had drifted from features: ${repaired.slice(0, maxLoggedIds).join(', ')}${more}. No action is needed unless this repeats.`,
      );
    }
  };

  if (intervalMs === 0) return { stop: () => Promise.resolve() };
  return startLoop({
    name: 'The reconciliation of search documents with the features service',
    run: reconcileIfDue,
    intervalMs: Math.min(intervalMs, claimIntervalMs),
    log,
  });
};
