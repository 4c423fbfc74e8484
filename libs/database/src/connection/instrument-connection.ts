import type { PoolClient } from 'pg';

/** A job ignored the failure of a statement and went on. PostgreSQL then rolls the transaction back at COMMIT, without an error. */
class AbandonedTransactionError extends Error {
  constructor(cause: unknown) {
    super('A statement of the transaction failed and its error was ignored: nothing was stored.', { cause });
  }
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');

/** The names of prepared statements, by text. Beyond `maxPrepared`, statements are sent unprepared. */
const preparedNames = new Map<string, string>();
const maxPrepared = 500;

const preparedName = (text: string): string | undefined => {
  const existing = preparedNames.get(text);
  if (existing !== undefined || preparedNames.size >= maxPrepared) return existing;
  const name = `tx-${preparedNames.size}`;
  preparedNames.set(text, name);
  return name;
};

/** Prepares a parameterised statement, which each connection parses and plans once. */
const prepared = (args: readonly unknown[]): readonly unknown[] => {
  const [text, values] = args;
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return args;
  const name = preparedName(text);
  return name === undefined ? args : [{ name, text, values }];
};

/** BEGIN, COMMIT, ROLLBACK and ROLLBACK TO are no longer than this. */
const maxControlLength = 100;

/**
 * Counts the statements of a connection, and rejects the COMMIT of a transaction that PostgreSQL has aborted. A ROLLBACK on a dead
 * connection succeeds, so that the caller gets the error for which the connection died.
 */
export const instrumentConnection = (
  client: PoolClient,
  count: (isRoundTrip: boolean) => void = () => undefined,
): void => {
  let inFlight = 0;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let failure: unknown;
  // PostgreSQL ends an idle transaction at its deadline. That error belongs to no statement, and without a listener ends the process.
  client.on('error', (error) => (failure ??= error));
  (client as { query: unknown }).query = (...args: unknown[]) => {
    count(inFlight === 0);
    const sql = textOf(args[0]);
    const text = sql.length > maxControlLength ? '' : sql.trim().toLowerCase();
    const ends = text === 'rollback';
    const ignored = failure;
    if (ends || text.startsWith('begin') || text.startsWith('start transaction') || text.startsWith('rollback to'))
      failure = undefined;
    if (text === 'commit' && ignored !== undefined) return Promise.reject(new AbandonedTransactionError(ignored));
    const sent = query(...prepared(args));
    if (!(sent instanceof Promise)) return sent;
    inFlight++;
    const settled = (): void => void inFlight--;
    sent.then(settled, settled);
    if (text === 'commit') {
      return sent.then((result: { command: string }) => {
        if (result.command !== 'COMMIT') throw new AbandonedTransactionError(failure);
        return result;
      });
    }
    if (ends) return sent.catch(() => ({ rows: [], rowCount: 0, command: 'ROLLBACK' }));
    sent.catch((error: unknown) => (failure ??= error));
    return sent;
  };
};
