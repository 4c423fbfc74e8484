import { isEqual, isJsonObject } from '@bunting/contracts';
import { itemsByKey } from '../../../merging/three-way-merge.ts';
import type { Json } from '../../../merging/json.ts';

/** A field that differs. An absent value is undefined. */
export interface FieldChange {
  /** the members on the way to the field; an item of a list of objects is named by its id or name */
  readonly path: readonly string[];
  readonly before: Json | undefined;
  readonly after: Json | undefined;
}

/**
 * The fields in which two values differ, in the order of the first value. Items of lists are matched by `id` or `name`; where only
 * their order differs, the list of their names is the field.
 */
export const fieldChanges = (
  before: Json | undefined,
  after: Json | undefined,
  path: readonly string[] = [],
): FieldChange[] => {
  if (isEqual(before, after)) return [];
  const [one, other] = [before ?? undefined, after ?? undefined];
  const isRoot = path.length === 0;
  if (
    (isJsonObject(one) || (isRoot && one === undefined)) &&
    (isJsonObject(other) || (isRoot && other === undefined))
  ) {
    const names = [...new Set([...Object.keys(one ?? {}), ...Object.keys(other ?? {})])];
    return names.flatMap((name) => fieldChanges(one?.[name], other?.[name], [...path, name]));
  }
  const [items, others] = [itemsByKey(one), itemsByKey(other)];
  if (items !== undefined && others !== undefined && items.size + others.size > 0) {
    const keys = [...new Set([...items.keys(), ...others.keys()])];
    const changed = keys.flatMap((key) => fieldChanges(items.get(key), others.get(key), [...path, key]));
    return changed.length > 0 ? changed : [{ path, before: [...items.keys()], after: [...others.keys()] }];
  }
  return [{ path, before, after }];
};
