import { isEqual, isJsonObject } from './values.ts';

/** A value of JSON. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [member: string]: Json };

type Members = Readonly<Record<string, Json>>;

/** A field that two people changed in different ways. An absent value is undefined. */
export interface MergeConflict {
  /** the members on the way to the field; an item of a list of objects is named by its id or name */
  readonly path: readonly string[];
  readonly base: Json | undefined;
  readonly mine: Json | undefined;
  readonly theirs: Json | undefined;
}

interface MergeResult {
  /** the value with both changes; in a conflict, the value of `mine` */
  readonly merged: Json | undefined;
  readonly conflicts: readonly MergeConflict[];
}

const keyOf = (item: Json): string | undefined => {
  if (!isJsonObject(item)) return undefined;
  const key = item['id'] ?? item['name'];
  return typeof key === 'string' || typeof key === 'number' ? String(key) : undefined;
};

/** The items of a list by their ids or names; undefined where one has none, or two have the same. */
const itemsByKey = (list: Json | undefined): ReadonlyMap<string, Json> | undefined => {
  if (!Array.isArray(list)) return undefined;
  const items = new Map<string, Json>();
  for (const item of list as readonly Json[]) {
    const key = keyOf(item);
    if (key === undefined || items.has(key)) return undefined;
    items.set(key, item);
  }
  return items;
};

/** The keys of both lists in the order of `first`. A key that only `second` has follows its predecessor in `second`. */
const mergedOrder = (first: readonly string[], second: readonly string[]): string[] => {
  const order = [...first];
  second.forEach((key, index) => {
    if (order.includes(key)) return;
    const predecessor = second.slice(0, index).findLast((earlier) => order.includes(earlier));
    order.splice(predecessor === undefined ? 0 : order.indexOf(predecessor) + 1, 0, key);
  });
  return order;
};

const memberOf = (value: Members, name: string): Json | undefined =>
  Object.hasOwn(value, name) ? value[name] : undefined;

const mergeAt = (
  path: readonly string[],
  base: Json | undefined,
  mine: Json | undefined,
  theirs: Json | undefined,
): MergeResult => {
  if (isEqual(mine, theirs) || isEqual(base, theirs)) return { merged: mine, conflicts: [] };
  if (isEqual(base, mine)) return { merged: theirs, conflicts: [] };
  if (isJsonObject(mine) && isJsonObject(theirs) && (base === undefined || isJsonObject(base))) {
    const names = [...new Set([...Object.keys(mine), ...Object.keys(theirs)])];
    const members = names.map((name) => ({
      name,
      ...mergeAt(
        [...path, name],
        base === undefined ? undefined : memberOf(base, name),
        memberOf(mine, name),
        memberOf(theirs, name),
      ),
    }));
    return {
      merged: Object.fromEntries(
        members.flatMap(({ name, merged }) => (merged === undefined ? [] : [[name, merged] as const])),
      ),
      conflicts: members.flatMap(({ conflicts }) => conflicts),
    };
  }
  const lists = { base: itemsByKey(base ?? []), mine: itemsByKey(mine), theirs: itemsByKey(theirs) };
  if (lists.base !== undefined && lists.mine !== undefined && lists.theirs !== undefined) {
    const { base: baseItems, mine: myItems, theirs: theirItems } = lists;
    const hasMyOrder = !isEqual(
      [...baseItems.keys()],
      [...myItems.keys()].filter((key) => baseItems.has(key)),
    );
    const [first, second] = hasMyOrder ? [myItems, theirItems] : [theirItems, myItems];
    const items = mergedOrder([...first.keys()], [...second.keys()]).map((key) =>
      mergeAt([...path, key], baseItems.get(key), myItems.get(key), theirItems.get(key)),
    );
    return {
      merged: items.flatMap(({ merged }) => (merged === undefined ? [] : [merged])),
      conflicts: items.flatMap(({ conflicts }) => conflicts),
    };
  }
  return { merged: mine, conflicts: [{ path, base, mine, theirs }] };
};

/**
 * Merges two changes of the same value by field. Items of lists are matched by `id` or `name`; a list of anything else is one field.
 * A field that only one side changed gets that change.
 */
export const threeWayMerge = (base: Json, mine: Json, theirs: Json): MergeResult => mergeAt([], base, mine, theirs);

const withValueAt = (target: Json | undefined, path: readonly string[], value: Json | undefined): Json | undefined => {
  const [name, ...rest] = path;
  if (name === undefined) return value;
  if (Array.isArray(target)) {
    const items = target as readonly Json[];
    const index = items.findIndex((item) => keyOf(item) === name);
    const changed = withValueAt(index < 0 ? undefined : items[index], rest, value);
    if (index < 0) return changed === undefined ? items : [...items, changed];
    return changed === undefined ? items.toSpliced(index, 1) : items.with(index, changed);
  }
  const members = isJsonObject(target) ? target : {};
  const changed = withValueAt(memberOf(members, name), rest, value);
  return Object.fromEntries([
    ...Object.entries(members).filter(([member]) => member !== name),
    ...(changed === undefined ? [] : [[name, changed] as const]),
  ]);
};

/** A merged value with the chosen side of each conflict, in the order of the conflicts. */
export const resolveConflicts = (
  merged: Json,
  conflicts: readonly MergeConflict[],
  choices: readonly ('mine' | 'theirs')[],
): Json =>
  conflicts.reduce<Json>(
    (value, { path, mine, theirs }, index) =>
      withValueAt(value, path, choices[index] === 'theirs' ? theirs : mine) ?? value,
    merged,
  );

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
