import type { PoolClient } from 'pg';

/** The error of a transaction whose job ignored a failed statement: PostgreSQL rolls it back at COMMIT, and reports no error. */
class IgnoredFailureError extends Error {
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

/** Names a parameterised statement, so that each connection prepares it: it is parsed and planned once. */
const namedIfParameterised = (args: readonly unknown[]): readonly unknown[] => {
  const [text, values] = args;
  if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return args;
  const name = preparedName(text);
  return name === undefined ? args : [{ name, text, values }];
};

/** The maximum length of BEGIN, COMMIT, ROLLBACK and ROLLBACK TO with their names and options. */
const maxTransactionControlLength = 100;

/**
 * Counts the statements of a connection, prepares those with parameters, and rejects the COMMIT of a transaction that PostgreSQL aborted.
 * A ROLLBACK on a lost connection succeeds, so that the caller gets the error of the loss.
 */
export const configureConnection = (
  client: PoolClient,
  onStatement: (isRoundTrip: boolean) => void = () => undefined,
): void => {
  let inFlight = 0;
  const query = client.query.bind(client) as (...args: unknown[]) => unknown;
  let failure: unknown;
  // PostgreSQL ends an idle transaction at its deadline. That error belongs to no statement, and without a listener ends the process.
  client.on('error', (error) => (failure ??= error));
  (client as { query: unknown }).query = (...args: unknown[]) => {
    onStatement(inFlight === 0);
    const sql = textOf(args[0]);
    const text = sql.length > maxTransactionControlLength ? '' : sql.trim().toLowerCase();
    const isRollback = text === 'rollback';
    const ignoredFailure = failure;
    if (
      isRollback ||
      text.startsWith('begin') ||
      text.startsWith('start transaction') ||
      text.startsWith('rollback to')
    )
      failure = undefined;
    if (text === 'commit' && ignoredFailure !== undefined)
      return Promise.reject(new IgnoredFailureError(ignoredFailure));
    const result = query(...namedIfParameterised(args));
    if (!(result instanceof Promise)) return result;
    inFlight++;
    const settled = (): void => void inFlight--;
    result.then(settled, settled);
    if (text === 'commit') {
      return result.then((committed: { command: string }) => {
        if (committed.command !== 'COMMIT') throw new IgnoredFailureError(failure);
        return committed;
      });
    }
    if (isRollback) return result.catch(() => ({ rows: [], rowCount: 0, command: 'ROLLBACK' }));
    result.catch((error: unknown) => (failure ??= error));
    return result;
  };
};
