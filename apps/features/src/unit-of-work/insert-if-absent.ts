import type { Tx } from '@bunting/database';
import type { EntityName, RequiredEntityData } from '@mikro-orm/postgresql';

/** Inserts a row in one statement; returns false, and inserts nothing, if its key is taken. */
export const insertIfAbsent = async <T extends object>(
  { em }: Tx,
  entity: EntityName<T>,
  row: RequiredEntityData<T>,
): Promise<boolean> => {
  const { affectedRows } = await em.qb(entity).insert(row).onConflict().ignore().execute('run');
  return affectedRows > 0;
};
