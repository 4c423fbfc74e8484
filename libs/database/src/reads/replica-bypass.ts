import type { DatabaseLog } from '../failures/outage-log.ts';

/** How long all reads go to the primary after the replica was stale or unavailable. */
const bypassMs = { behind: 500, unavailable: 5_000 };
const repeatWarningAfterMs = 60_000;

/** Why the primary serves all reads. */
export type BypassReason = keyof typeof bypassMs;

interface ReplicaBypassOptions {
  /** the replica, as log lines name it */
  readonly replica: string;
  readonly log: Pick<DatabaseLog, 'warn'>;
}

/**
 * The circuit breaker of a replica. After a failure the primary serves all reads for a while. Then one read at a time tries the replica,
 * until one succeeds.
 */
export const replicaBypass = ({ replica, log }: ReplicaBypassOptions) => {
  let reason: BypassReason | undefined;
  let endsAt = Number.NEGATIVE_INFINITY;
  let warnedAt = Number.NEGATIVE_INFINITY;
  let hasWarned = false;

  const end = (): void => {
    reason = undefined;
    endsAt = Number.NEGATIVE_INFINITY;
    if (hasWarned) log.warn(`${replica} serves reads again.`);
    hasWarned = false;
  };

  return {
    /** Why the primary serves all reads; undefined while reads go to the replica. */
    get reason() {
      return reason;
    },
    /** Lets a read try the replica. Returns a function to call when the replica has served it; undefined while the replica is bypassed. */
    admit: (): (() => void) | undefined => {
      if (performance.now() < endsAt) return undefined;
      if (reason === undefined) return () => undefined;
      endsAt = performance.now() + bypassMs[reason];
      return end;
    },
    begin: (failure: BypassReason, message: string): void => {
      reason = failure;
      endsAt = performance.now() + bypassMs[failure];
      if (performance.now() - warnedAt < repeatWarningAfterMs) return;
      warnedAt = performance.now();
      hasWarned = true;
      log.warn(
        `${replica} is not used: ${message}. The primary serves its reads. Check the replica and its replication.`,
      );
    },
  };
};
