import type { PoolClient } from 'pg';

/** The error of a transaction whose job ignored a failed statement: PostgreSQL rolls it back at COMMIT, and reports no error. */
class IgnoredFailureError extends Error {
  constructor(cause: unknown) {
    super('A statement of the transaction failed and its error was ignored: nothing was stored.', { cause });
  }
}

const textOf = (query: unknown): string =>
  typeof query === 'string' ? query : ((query as { text?: string }).text ?? '');

type Query = (...args: readonly unknown[]) => unknown;

/** Replaces the `query` of a connection by a function that gets the original one and the arguments of each call. */
const wrapQuery = (client: PoolClient, wrapper: (query: Query, args: readonly unknown[]) => unknown): void => {
  const query = client.query.bind(client) as Query;
  (client as { query: unknown }).query = (...args: readonly unknown[]) => wrapper(query, args);
};

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

/** Names the statements with parameters, so that the connection prepares each once: it is parsed and planned once. */
const prepareParameterised = (client: PoolClient): void =>
  wrapQuery(client, (query, args) => {
    const [text, values] = args;
    if (typeof text !== 'string' || !Array.isArray(values) || values.length === 0) return query(...args);
    const name = preparedName(text);
    return name === undefined ? query(...args) : query({ name, text, values });
  });

/** The maximum length of BEGIN, COMMIT, ROLLBACK and ROLLBACK TO with their names and options. */
const maxTransactionControlLength = 100;

/**
 * Rejects the COMMIT of a transaction that PostgreSQL has aborted. A ROLLBACK on a lost connection succeeds, so that the caller gets the
 * error of the loss.
 */
const rejectAbortedCommits = (client: PoolClient): void => {
  let failure: unknown;
  // PostgreSQL ends an idle transaction at its deadline. That error belongs to no statement, and without a listener ends the process.
  client.on('error', (error) => (failure ??= error));
  wrapQuery(client, (query, args) => {
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
    const result = query(...args);
    if (!(result instanceof Promise)) return result;
    if (text === 'commit') {
      return result.then((committed: { command: string }) => {
        if (committed.command !== 'COMMIT') throw new IgnoredFailureError(failure);
        return committed;
      });
    }
    if (isRollback) return result.catch(() => ({ rows: [], rowCount: 0, command: 'ROLLBACK' }));
    result.catch((error: unknown) => (failure ??= error));
    return result;
  });
};

/** @param onStatement called before each statement, with whether it is a round trip of its own: no other one is in flight */
const countStatements = (client: PoolClient, onStatement: (isRoundTrip: boolean) => void): void => {
  let inFlight = 0;
  wrapQuery(client, (query, args) => {
    onStatement(inFlight === 0);
    const result = query(...args);
    if (!(result instanceof Promise)) return result;
    inFlight++;
    const settled = (): void => void inFlight--;
    result.then(settled, settled);
    return result;
  });
};

/** Counts the statements of a connection, prepares those with parameters, and rejects the COMMIT of a transaction that PostgreSQL aborted. */
export const configureConnection = (
  client: PoolClient,
  onStatement: (isRoundTrip: boolean) => void = () => undefined,
): void => {
  prepareParameterised(client);
  rejectAbortedCommits(client);
  countStatements(client, onStatement);
};
