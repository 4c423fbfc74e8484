import { type ErrorKind, Refusal, unavailable } from '@bunting/contracts';

interface Thrown {
  readonly message?: unknown;
  readonly code?: unknown;
  readonly constraint?: unknown;
  readonly cause?: unknown;
}

/** What was thrown and what caused it. By shape: an error of another realm is no instance of this one's Error. */
const chain = function* (error: unknown): Generator<Thrown> {
  for (let at: unknown = error; typeof at === 'object' && at !== null; at = (at as Thrown).cause) yield at;
};

/** The failure with a code that lies deepest: what wraps it may have put other words around PostgreSQL's own. */
const codedIn = (error: unknown): { readonly code: string; readonly message: string } | undefined => {
  let deepest: { code: string; message: string } | undefined;
  for (const { code, message } of chain(error))
    if (typeof code === 'string') deepest = { code, message: String(message ?? '') };
  return deepest;
};

const codeOf = (error: unknown): string | undefined => codedIn(error)?.code;

/**
 * Serialization failure, deadlock, and a reference to what somebody else has just removed: the same work, done again, is
 * likely to succeed, or to find out for itself what is no longer there.
 */
export const isTransient = (error: unknown): boolean => ['40001', '40P01', '23503'].includes(codeOf(error) ?? '');

/** The name of the constraint that a write would have broken, if that is what happened. */
export const violatedConstraint = (error: unknown): string | undefined => {
  for (const { code, constraint } of chain(error)) {
    if (typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string') return constraint;
  }
  return undefined;
};

/** The refusal of a transaction whose deadline passed before it was committed. */
export const deadlineExceeded = (): Refusal => unavailable(outages['no time left']);

/** The refusal of a transaction whose caller cannot be answered any more. */
export const callerLost = (): Refusal =>
  unavailable('The connection to the caller was lost before the changes were committed. Nothing was changed.');

/** A failure of the database, and not of what it was asked: the same request may succeed later. */
export interface Outage {
  readonly kind: keyof typeof outages;
  /** PostgreSQL's or the driver's own words, with the SQLSTATE where there is one */
  readonly reason: string;
}

const again = 'Please try again.';

/** What each kind of outage is answered with. */
const outages = {
  unreachable: `The database cannot be reached. ${again}`,
  'slow to connect': `The database did not accept a connection in time. ${again}`,
  'pool exhausted': `No connection to the database was free in time: the service is busy. ${again}`,
  'too many connections': `The database accepts no more connections. ${again}`,
  'out of resources': `The database lacks the memory or other resources for this request. ${again}`,
  'disk full': 'The database has no room left on its disk: nothing can be written until some is freed.',
  'read-only': 'The database is read-only at the moment: nothing can be written. Please try again.',
  'statement timeout': 'The database took too long for this request. Please try again, or ask for less.',
  'lock timeout': `The database waited too long for a lock that another transaction holds. ${again}`,
  canceled: `The database canceled the request. ${again}`,
  'transaction timeout': `The transaction took too long, and the database ended it. ${again}`,
  'no time left': 'There was no time left. Nothing was changed.',
  'concurrent writes': `Other writes got in the way again and again. ${again}`,
  'access denied': "The database denies the service access: its operator must restore the service's rights.",
  'internal error': `The database reports an internal error, which its log describes. ${again}`,
} as const;

/** By SQLSTATE (PostgreSQL's manual, appendix A), or by the code of Node's socket. The first that matches counts. */
const byCode: readonly { readonly code: RegExp; readonly says?: RegExp; readonly kind: Outage['kind'] }[] = [
  { code: /^53100$/, kind: 'disk full' },
  { code: /^53300$/, kind: 'too many connections' },
  { code: /^53/, kind: 'out of resources' },
  { code: /^25006$/, kind: 'read-only' },
  { code: /^25P03$/, kind: 'transaction timeout' },
  { code: /^25P04$/, kind: 'no time left' },
  { code: /^55P03$/, kind: 'lock timeout' },
  { code: /^57014$/, says: /due to statement timeout/, kind: 'statement timeout' },
  { code: /^57014$/, kind: 'canceled' },
  { code: /^55000$/, says: /not currently accepting connections/, kind: 'unreachable' },
  { code: /^(?:08|57P)/, kind: 'unreachable' },
  { code: /^40/, kind: 'concurrent writes' },
  { code: /^(?:28...|42501)$/, kind: 'access denied' },
  { code: /^58|^XX00/, says: /No space left on device/, kind: 'disk full' },
  { code: /^(?:58|XX00)/, kind: 'internal error' },
  { code: /^E(?!RR_)[A-Z_]+$/, kind: 'unreachable' },
];

/** What the driver throws without a code. Anchored: elsewhere in a message there may be what a caller sent. */
const byDriverMessage: readonly (readonly [RegExp, Outage['kind']])[] = [
  [/^timeout exceeded when trying to connect/, 'pool exhausted'],
  [/^(?:Connection terminated due to connection timeout|timeout expired)/, 'slow to connect'],
  [/^Query read timeout/, 'statement timeout'],
  [/^Connection terminated|^Client (?:has encountered a connection error|was closed)/, 'unreachable'],
  [/^Received unexpected \w+ message from backend|^Cannot use a pool after calling end/, 'unreachable'],
];

/** The outage that an error stands for; undefined when the database works and would not do what it was asked. */
export const outageOf = (error: unknown): Outage | undefined => {
  const coded = codedIn(error);
  if (coded !== undefined) {
    const { code, message } = coded;
    const rule = byCode.find((one) => one.code.test(code) && (one.says?.test(message) ?? true));
    return rule && { kind: rule.kind, reason: `${message} (${code})` };
  }
  const message = String((error as Thrown | undefined)?.message ?? '');
  const kind = byDriverMessage.find(([pattern]) => pattern.test(message))?.[1];
  return kind && { kind, reason: message };
};

/** What a failure of the database means to the caller: an outage is a 503; anything else is a defect and stays what it is. */
export const refusalForFailure = (error: unknown): unknown => {
  if (error instanceof Refusal) return error;
  const outage = outageOf(error);
  return outage === undefined ? error : unavailable(outages[outage.kind]);
};

const temporary: ReadonlySet<ErrorKind> = new Set(['ServiceUnavailable', 'RequestTimeout', 'RateLimitError']);

/** Classes of SQLSTATE that say that a value, or several of them together, cannot be stored. */
const dataClasses = /^(?:21|22|23|44|54|P0)/;

/**
 * Whether something failed because of the data that it was given, so that it fails again with the same data: PostgreSQL
 * will not store it, a schema refuses it, or our own code throws on it. A failure of the database is never one of the data, and
 * neither is what is not known to be one, such as a table that is missing.
 */
export const isDataError = (error: unknown): boolean => {
  if (error instanceof Refusal) return !temporary.has(error.kind);
  if (outageOf(error) !== undefined) return false;
  const code = codeOf(error);
  return code === undefined || code.startsWith('ERR_') || dataClasses.test(code);
};
