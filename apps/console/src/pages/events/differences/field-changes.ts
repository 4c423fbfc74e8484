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
  const [first, second] = [before ?? undefined, after ?? undefined];
  const isRoot = path.length === 0;
  if (
    (isJsonObject(first) || (isRoot && first === undefined)) &&
    (isJsonObject(second) || (isRoot && second === undefined))
  ) {
    const names = [...new Set([...Object.keys(first ?? {}), ...Object.keys(second ?? {})])];
    return names.flatMap((name) => fieldChanges(first?.[name], second?.[name], [...path, name]));
  }
  const [firstItems, secondItems] = [itemsByKey(first), itemsByKey(second)];
  if (firstItems !== undefined && secondItems !== undefined && firstItems.size + secondItems.size > 0) {
    const keys = [...new Set([...firstItems.keys(), ...secondItems.keys()])];
    const changed = keys.flatMap((key) => fieldChanges(firstItems.get(key), secondItems.get(key), [...path, key]));
    return changed.length > 0 ? changed : [{ path, before: [...firstItems.keys()], after: [...secondItems.keys()] }];
  }
  return [{ path, before, after }];
};
