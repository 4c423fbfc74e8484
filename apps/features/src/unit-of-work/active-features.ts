/**
 * SQL: whether a row of `feature` is active. `coalesce` prevents PostgreSQL from choosing the index of active features where others are
 * better. While its statistics are out of date, as after an import, it would scan that whole index for each feature.
 */
export const isActive = (row: string): string => `coalesce(${row}.archived_at, 'infinity') = 'infinity'`;

/** SQL to select from: the active features `child` that depend on the feature with a name. */
export const activeChildrenOf = (name: string): string => `feature child
  where child.parents @> array[${name}] and child.parents <> '{}' and ${isActive('child')}`;

/** SQL to select from: the active features `child` that depend on any of the features in an array of names, once for each such `parent`. */
export const activeChildrenOfAll = (names: string): string => `feature child, unnest(child.parents) as parent
  where child.parents && ${names} and child.parents <> '{}' and ${isActive('child')} and parent = any (${names})`;
