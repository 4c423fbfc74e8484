import type { Outage } from './database-failures.ts';

/** What the database logs to: warnings, and errors that an operator has to act on, such as a full disk. */
export interface DatabaseLog {
  warn(message: string): void;
  error(message: string): void;
}
export const silentLog: DatabaseLog = { warn: () => undefined, error: () => undefined };

const repeatAfterMs = 60_000;

/** Outages that do not end by themselves, with the operator's next step. */
const nextSteps: Partial<Record<Outage['kind'], string>> = {
  'disk full': 'Free some space on the disk of PostgreSQL.',
  'read-only': 'Make it writable, or connect this service to the primary.',
  'access denied': "Restore the rights of this service's user.",
  'internal error': "Look into PostgreSQL's own log.",
};

/** Logs outages that an operator has to end, each kind at most once a minute. */
export const outageLog = (database: string, log: Pick<DatabaseLog, 'error'>) => {
  const loggedAt = new Map<Outage['kind'], number>();
  return {
    note({ kind, reason }: Outage): void {
      const nextStep = nextSteps[kind];
      const now = performance.now();
      if (nextStep === undefined || now - (loggedAt.get(kind) ?? Number.NEGATIVE_INFINITY) < repeatAfterMs) return;
      loggedAt.set(kind, now);
      log.error(`The database ${database} reports "${reason}" (${kind}). Affected requests get 503. ${nextStep}`);
    },
  };
};
