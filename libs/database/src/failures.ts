import { Refusal, retryOutcomes, unavailable } from '@bunting/contracts';
import { hostAndPortOf } from './connection.ts';

interface Thrown {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly cause?: unknown;
}

/** An error and its causes. Checked by shape: errors of another realm are no instances of this realm's `Error`. */
const causesOf = function* (error: unknown): Generator<Thrown> {
  for (let link: unknown = error; typeof link === 'object' && link !== null; link = (link as Thrown).cause) yield link;
};

/**
 * The first code from an error to its innermost cause: what an error says of itself outweighs its cause. The message is that of the innermost
 * error with this code, since a wrapper such as the ORM's copies PostgreSQL's code and replaces its message.
 */
function firstCodeIn(error: unknown): { readonly code: string; readonly message: string } | undefined {
  let coded: { readonly code: string; readonly message: string } | undefined;
  for (const { code, message } of causesOf(error))
    if (typeof code === 'string' && code === (coded?.code ?? code)) coded = { code, message: String(message ?? '') };
  return coded;
}

/** The SQLSTATE of an error, or the code of Node's socket; undefined without one. */
export function codeOf(error: unknown): string | undefined {
  return firstCodeIn(error)?.code;
}

/**
 * Whether the same transaction is likely to succeed when it is retried: after a serialization failure, a deadlock, or a reference to a
 * row that was removed concurrently.
 */
export function isRetryable(error: unknown): boolean {
  return ['40001', '40P01', '23503'].includes(codeOf(error) ?? '');
}

/** The name of the constraint that a write violated; undefined for other errors. */
export function violatedConstraint(error: unknown): string | undefined {
  for (const { code, constraint } of causesOf(error)) {
    if (typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string') return constraint;
  }
  return undefined;
}

/** The refusal of a transaction whose deadline passed before it was committed. */
export function deadlineExceeded(): Refusal {
  return unavailable(outages['deadline exceeded']);
}

/** The refusal of a transaction whose caller can no longer receive a reply. */
export function callerLost(): Refusal {
  return unavailable('The connection to the caller was lost before the changes were committed. Nothing was changed.');
}

/** A failure of the database that is independent of the request: the same request may succeed later. */
interface Outage {
  readonly kind: keyof typeof outages;
  /** PostgreSQL's or the driver's own words, with the SQLSTATE where there is one */
  readonly reason: string;
}

const tryAgain = 'Please try again.';

/** The message of the 503 response, by kind of outage. */
const outages = {
  unreachable: `The database cannot be reached. ${tryAgain}`,
  'no response': `The database did not respond in time: the connection to it may be lost. ${tryAgain}`,
  'slow to connect': `The database did not accept a connection in time. ${tryAgain}`,
  'pool exhausted': `No connection to the database was free in time: the service is busy. ${tryAgain}`,
  'too many connections': `The database accepts no more connections. ${tryAgain}`,
  'out of resources': `The database lacks the memory or other resources for this request. ${tryAgain}`,
  'disk full': 'The database has no room left on its disk: nothing can be written until some is freed.',
  'read-only': 'The database is read-only at the moment: nothing can be written. Please try again.',
  'statement timeout': 'The database took too long for this request. Please try again, or ask for less.',
  'lock timeout': `The database waited too long for a lock that another transaction holds. ${tryAgain}`,
  canceled: `The database canceled the request. ${tryAgain}`,
  'transaction timeout': `The transaction took too long, and the database ended it. ${tryAgain}`,
  'deadline exceeded': 'The deadline has passed. Nothing was changed.',
  'concurrent writes': `Concurrent writes conflicted repeatedly. ${tryAgain}`,
  'access denied': "The database denies the service access: its operator must restore the service's rights.",
  'internal error': `The database reports an internal error, which its log describes. ${tryAgain}`,
} as const;

/** Kinds by SQLSTATE (PostgreSQL's manual, appendix A) or by the error code of Node's socket. The first match counts. */
const byCode: readonly { readonly code: RegExp; readonly messagePattern?: RegExp; readonly kind: Outage['kind'] }[] = [
  { code: /^53100$/, kind: 'disk full' },
  { code: /^53300$/, kind: 'too many connections' },
  { code: /^53/, kind: 'out of resources' },
  { code: /^25006$/, kind: 'read-only' },
  { code: /^25P03$/, kind: 'transaction timeout' },
  { code: /^25P04$/, kind: 'deadline exceeded' },
  { code: /^55P03$/, kind: 'lock timeout' },
  { code: /^57014$/, messagePattern: /due to statement timeout/, kind: 'statement timeout' },
  { code: /^57014$/, kind: 'canceled' },
  { code: /^55000$/, messagePattern: /not currently accepting connections/, kind: 'unreachable' },
  { code: /^(?:08|57P)/, kind: 'unreachable' },
  { code: /^40/, kind: 'concurrent writes' },
  { code: /^(?:28...|42501)$/, kind: 'access denied' },
  { code: /^58|^XX00/, messagePattern: /No space left on device/, kind: 'disk full' },
  { code: /^(?:58|XX00)/, kind: 'internal error' },
  { code: /^E(?!RR_)[A-Z_]+$/, kind: 'unreachable' },
];

/** Kinds of the driver's errors without a code. The patterns are anchored, because messages may quote what a caller sent. */
const byDriverMessage: readonly (readonly [RegExp, Outage['kind']])[] = [
  [/^timeout exceeded when trying to connect/, 'pool exhausted'],
  [/^(?:Connection terminated due to connection timeout|timeout expired)/, 'slow to connect'],
  [/^(?:Query read timeout|The connection was lost without a sign)/, 'no response'],
  [/^Connection terminated|^Client (?:has encountered a connection error|was closed)/, 'unreachable'],
  [/^Received unexpected \w+ message from backend|^Cannot use a pool after calling end/, 'unreachable'],
];

/** The outage that caused an error; undefined if the database works and refused the statement. */
export function outageOf(error: unknown): Outage | undefined {
  const coded = firstCodeIn(error);
  if (coded !== undefined) {
    const { code, message } = coded;
    const rule = byCode.find(
      (candidate) => candidate.code.test(code) && (candidate.messagePattern?.test(message) ?? true),
    );
    return rule && { kind: rule.kind, reason: `${message} (${code})` };
  }
  const message = String((error as Thrown | undefined)?.message ?? '');
  const kind = byDriverMessage.find(([pattern]) => pattern.test(message))?.[1];
  return kind && { kind, reason: message };
}

/** The error for the caller: a 503 for an outage; any other error unchanged. */
export function refusalForFailure(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  const outage = outageOf(error);
  return outage === undefined ? error : unavailable(outages[outage.kind]);
}

/** Classes of SQLSTATE for values that cannot be stored. */
const dataClasses = /^(?:21|22|23|44|54|P0)/;

/**
 * Whether an error was caused by the input, so that a retry fails as well: PostgreSQL refuses to store it, a schema refuses it, or
 * code throws on it. Outages and unknown errors of PostgreSQL, such as a missing table, are no data errors.
 */
export function isDataError(error: unknown): boolean {
  if (error instanceof Refusal) return retryOutcomes[error.kind] !== 'may succeed';
  if (outageOf(error) !== undefined) return false;
  const code = codeOf(error);
  return code === undefined || code.startsWith('ERR_') || dataClasses.test(code);
}

/** The error for an outage that keeps a service from starting, with the next step. */
function startFailure(host: string, { kind, reason }: Outage): string {
  switch (kind) {
    case 'disk full':
      return `The disk of the PostgreSQL at ${host} is full (${reason}). Free some space on it, then start again.`;
    case 'read-only':
      return `The PostgreSQL at ${host} is read-only (${reason}). Give the address of the primary, or make it writable.`;
    case 'access denied':
      return `The PostgreSQL at ${host} denies access (${reason}). Correct user and password, or grant the rights.`;
    case 'unreachable':
    case 'no response':
    case 'slow to connect':
      return `No PostgreSQL answers at ${host} (${reason}). Start one, or correct the address.`;
    default:
      return `The PostgreSQL at ${host} answers, and cannot be used now (${reason}). Start again when it can.`;
  }
}

/** Waits for the job. @throws Error with the next step when the job fails because of an outage */
export async function explainStartFailure(url: string, job: Promise<unknown>): Promise<void> {
  try {
    await job;
  } catch (error) {
    const outage = outageOf(error);
    if (outage === undefined) throw error;
    throw new Error(startFailure(hostAndPortOf(url), outage), { cause: error });
  }
}

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
export function outageLog(database: string, log: Pick<DatabaseLog, 'error'>) {
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
}
