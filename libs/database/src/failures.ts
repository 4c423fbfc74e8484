import { Refusal, unavailable } from '@bunting/contracts';

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

const codeOf = (error: unknown): string | undefined => {
  for (const { code } of chain(error)) if (typeof code === 'string') return code;
  return undefined;
};

/**
 * Serialization failure, deadlock, and a reference to what somebody else has just removed: the same work, done again, is
 * likely to succeed, or to find out for itself what is no longer there.
 */
export const isTransient = (error: unknown): boolean => ['40001', '40P01', '23503'].includes(codeOf(error) ?? '');

/** The name of the constraint that a write would have broken, if that is what happened. */
export const brokenConstraint = (error: unknown): string | undefined => {
  for (const { code, constraint } of chain(error)) {
    if (typeof code === 'string' && code.startsWith('23') && typeof constraint === 'string') return constraint;
  }
  return undefined;
};

/** The refusal of a transaction whose deadline passed before it was committed. */
export const noTimeLeft = (): Refusal => unavailable('There was no time left. Nothing was changed.');

/** The refusal of a transaction whose caller cannot be answered any more. */
export const callerLost = (): Refusal =>
  unavailable('The connection to the caller was lost before the changes were committed. Nothing was changed.');

/** PostgreSQL ended a transaction by its `transaction_timeout`: it was rolled back. */
const transactionTimedOut = '25P04';

/** The connection is gone, the server is going or coming, or it lacks the means: connections, memory, room on its disk. */
const away = (code: string): boolean => /^(?:08|57P|53)/.test(code) || /^E[A-Z]+$/.test(code);

/** What a failure of the database means to who asked: away or too slow is a 503; anything else is a defect and stays what it is. */
export const asRefusal = (error: unknown): unknown => {
  if (error instanceof Refusal) return error;
  const code = codeOf(error);
  if (code === transactionTimedOut) return noTimeLeft();
  if (code === '57014')
    return unavailable('The database took too long for this request. Please try again, or ask for less.');
  if (code !== undefined && away(code)) return unavailable('The database is away. Please try again.');
  const message = String((error as Thrown | undefined)?.message ?? '');
  if (
    /timeout exceeded when trying to connect|Connection terminated|Client has encountered a connection error|not currently accepting connections/.test(
      message,
    )
  ) {
    return unavailable('The database is away. Please try again.');
  }
  return error;
};
