import type { Statement } from './database.ts';

/**
 * The row of a statement that always returns exactly one, such as a count.
 * @param statement the statement, or its name, for the error
 * @throws Error if it returned none or several: a defect
 */
export const onlyRow = <Row>(rows: readonly Row[], statement: Statement | string = ''): Row => {
  const [row] = rows;
  if (row !== undefined && rows.length === 1) return row;
  const name = typeof statement === 'string' ? statement : (statement.name ?? statement.text);
  throw new Error(
    `${name === '' ? 'A statement' : `The statement ${name}`} returned ${rows.length} rows instead of one.`,
  );
};
