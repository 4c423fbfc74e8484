import { hash } from 'node:crypto';
import type { Statement } from './database.ts';
import type { Tx } from './transaction.ts';

/**
 * A statement that each connection prepares once, and PostgreSQL plans once: for what is sent often and has one good plan for all values. Its
 * name there follows from its text.
 */
export function prepared(text: string): Statement {
  return { name: hash('sha1', text), text };
}

/**
 * The row of a statement that always returns exactly one, such as a count.
 * @param statement the statement, or what it does, for the error
 * @throws Error if it returned none or several: a defect
 */
export function onlyRow<Row>(rows: readonly Row[], statement: Statement | string = ''): Row {
  const [row] = rows;
  if (row !== undefined && rows.length === 1) return row;
  const name = typeof statement === 'string' ? statement : statement.text;
  throw new Error(
    `${name === '' ? 'A statement' : `The statement ${name}`} returned ${rows.length} rows instead of one.`,
  );
}

/** The text as a part of a `like` pattern that matches it literally. */
export function escapeLike(text: string): string {
  return text.replace(/[\\%_]/g, String.raw`\$&`);
}

/** Takes the lock with a name until the transaction ends, so that transactions that take it run one after another. */
export async function advisoryLock({ query }: Pick<Tx, 'query'>, name: string): Promise<void> {
  await query('select pg_advisory_xact_lock(hashtext($1))', [name]);
}

/**
 * SQL: whether a time is over which was at most `longest` ahead when it was stored. One that is further ahead was stored before the clock of
 * the database was set back, and is over as well: otherwise what waits for it waits for as long as the clock was wrong. An index on the time finds
 * it, which it does not by `clock_timestamp()`, as that may differ from row to row.
 * @param longest an interval in SQL
 */
export function isOverSql(time: string, longest: string): string {
  return `(${time} <= statement_timestamp() or ${time} > statement_timestamp() + ${longest})`;
}

/** SQL: a `timestamptz` as RFC 3339 text with milliseconds. */
export function timestampSql(column: string): string {
  return `to_char(${column} at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}
