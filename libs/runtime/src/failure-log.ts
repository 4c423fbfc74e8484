import { Refusal } from '@bunting/contracts';
import { type Log, logFailure } from './log.ts';
import { logAfterRestartMs } from './loop.ts';

/**
 * Logs the failures of pieces of background work, each once until the piece succeeds: a defect at once, a refusal once the piece has failed for
 * longer than a service takes to restart.
 * @param logAfterMs how long that is
 */
export function failureLog(log: Log, logAfterMs = logAfterRestartMs) {
  const failing = new Map<number | string, { readonly since: number; isLogged: boolean }>();
  return {
    /** @param failure what failed and what follows, without a full stop */
    failed: (piece: number | string, failure: string, error: unknown): void => {
      const now = performance.now();
      const state = failing.get(piece) ?? { since: now, isLogged: false };
      failing.set(piece, state);
      if (state.isLogged || (error instanceof Refusal && now - state.since < logAfterMs)) return;
      state.isLogged = true;
      logFailure(log, failure, error);
    },
    ended: (piece: number | string): void => void failing.delete(piece),
    isFailing: (piece: number | string): boolean => failing.has(piece),
  };
}
