import type { EntityManager, EntityName, RequiredEntityData } from '@mikro-orm/postgresql';

/**
 * Stores the difference of two lists at the next flush: rows that are new, changed or removed. Each item is one row. `before` must have
 * been read under a lock in the same transaction. Items that are the same object in both lists are skipped.
 */
export const persistDifference = <T extends object, Item>(
  em: EntityManager,
  entity: EntityName<T>,
  { before, after }: { readonly before: readonly Item[]; readonly after: readonly Item[] },
  rowOf: (item: Item) => RequiredEntityData<T>,
): void => {
  const { primaryKeys } = em.getMetadata(entity);
  const keyOf = (row: object): string => JSON.stringify(primaryKeys.map((name) => row[name as keyof typeof row]));
  const itemsBefore = new Set(before);
  const keptItems = new Set(after.filter((item) => itemsBefore.has(item)));
  const storedRows = new Map(
    before
      .filter((item) => !keptItems.has(item))
      .map(rowOf)
      .map((row) => [keyOf(row), em.merge(entity, row as never)]),
  );
  for (const item of after) {
    if (keptItems.has(item)) continue;
    const row = rowOf(item);
    const storedRow = storedRows.get(keyOf(row));
    if (storedRow === undefined) em.create(entity, row);
    else em.assign(storedRow, row as never);
    storedRows.delete(keyOf(row));
  }
  for (const removedRow of storedRows.values()) em.remove(removedRow);
};
