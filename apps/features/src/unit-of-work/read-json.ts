import { onlyRow, type ReadDatabase, type Statement } from '@bunting/database';

/** Reads the JSON of a statement that always returns one row. */
export const readJson = async (
  database: ReadDatabase,
  statement: Statement,
  values: readonly unknown[] = [],
): Promise<string> => onlyRow(await database.read<{ json: string }>(statement, values), statement).json;
