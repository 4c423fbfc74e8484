import type { KeptStates } from '../persistence/kept-states.ts';
import type { Reconciled } from './reconcile.ts';

export interface StartReconcilerOptions {
  readonly reconcile: (after: string) => Promise<Reconciled>;
  readonly kept: Pick<KeptStates, 'claim' | 'comparedUpTo'>;
  /** milliseconds between comparisons; 0 for none */
  readonly everyMs: number;
  readonly warn: (message: string) => void;
  readonly tell: (done: Reconciled) => void;
}

export interface RunningReconciler {
  stop(): Promise<void>;
}

const mostNamed = 5;

/** Compares the documents with the features service again and again; of several processes, one at a time. */
export const startReconciler = ({
  reconcile,
  kept,
  everyMs,
  warn,
  tell,
}: StartReconcilerOptions): RunningReconciler => {
  let stopped = false;
  let wake = (): void => undefined;
  let failing = false;

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

  const running = (async () => {
    if (everyMs === 0) return;
    while (!stopped) {
      try {
        await round();
        failing = false;
      } catch (error) {
        if (!failing && !stopped) warn(`What is searched cannot be compared now: ${(error as Error).message}`);
        failing = true;
      }
      if (stopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, Math.min(everyMs, 10_000)).unref();
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();

  return {
    stop: async () => {
      stopped = true;
      wake();
      await running;
    },
  };
};
