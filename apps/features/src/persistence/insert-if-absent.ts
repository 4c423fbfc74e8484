import type { Tx } from '@bunting/database';
import type { EntityName, RequiredEntityData } from '@mikro-orm/postgresql';

/** Stores a row in one statement; false, and nothing is stored, where there is one of its key already. */
export const insertIfAbsent = async <T extends object>(
  { em }: Tx,
  entity: EntityName<T>,
  row: RequiredEntityData<T>,
): Promise<boolean> => {
  const { affectedRows } = await em.qb(entity).insert(row).onConflict().ignore().execute('run');
  return affectedRows > 0;
};
