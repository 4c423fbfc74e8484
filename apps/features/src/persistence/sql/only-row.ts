import type { ReadDatabase, Statement } from '@bunting/database';

/** The row of a statement that always returns one, such as a count. @param statement which one, for the error */
export const onlyRow = <Row>(rows: readonly Row[], statement: Statement | string): Row => {
  const [row] = rows;
  if (row !== undefined) return row;
  const name = typeof statement === 'string' ? statement : (statement.name ?? statement.text);
  throw new Error(`The statement ${name} returned no row.`);
};

/** Reads the JSON of a statement that always returns one row. */
export const readJson = async (
  database: ReadDatabase,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<string> => onlyRow(await database.read<{ json: string }>(statement, values), statement).json;
