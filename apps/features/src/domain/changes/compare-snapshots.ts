import { asJsonObject, type ChangeRequestOverwrite, isEqual, type JsonObject, memberOf } from '@bunting/contracts';

/** What a change replaces: when it was proposed, and now. Null where there is nothing to replace. */
export interface SnapshotComparison {
  readonly snapshot: unknown;
  readonly current: unknown;
}

/** Normalizes a value for comparison: absent means empty, and the order of segments does not matter. */
const normalize = (property: string, value: unknown): unknown => {
  if (property === 'segments' && Array.isArray(value)) return value.toSorted((one, other) => one - other);
  if ((property === 'title' || property === 'description') && (value ?? '') === '') return null;
  if (value === undefined && ['segments', 'variants', 'constraints'].includes(property)) return [];
  return value ?? null;
};

const editsAmong = (
  properties: readonly string[],
  snapshot: JsonObject,
  current: JsonObject,
  proposed: JsonObject,
): ChangeRequestOverwrite[] =>
  properties.flatMap((property): ChangeRequestOverwrite[] => {
    if (property === 'parameters') {
      const [was, is, will] = [snapshot, current, proposed].map((of) => asJsonObject(memberOf(of, 'parameters')));
      const keys = [...new Set([...Object.keys(is ?? {}), ...Object.keys(was ?? {})])];
      return editsAmong(keys, was ?? {}, is ?? {}, will ?? {}).map((found) => ({
        ...found,
        property: `parameters.${found.property}`,
      }));
    }
    const [was, is, will] = [snapshot, current, proposed].map((of) => normalize(property, memberOf(of, property)));
    if (isEqual(was, is) || isEqual(will, is)) return [];
    return [{ property, snapshot: was, current: is, proposed: will }];
  });

/** The edits of the proposed properties: those that differ from the snapshot, and that would get another value. */
export const findNewerEdits = (
  { snapshot, current }: SnapshotComparison,
  proposed: JsonObject,
): ChangeRequestOverwrite[] => {
  if (snapshot === null || snapshot === undefined || current === null) return [];
  return editsAmong(Object.keys(proposed), asJsonObject(snapshot), asJsonObject(current), proposed);
};

/** All edits of an object that is to be deleted, except of its order among others. */
export const findEditsLostByDeletion = (states: SnapshotComparison): ChangeRequestOverwrite[] => {
  const { id: _, sortOrder: __, ...properties } = asJsonObject(states.current);
  return findNewerEdits(states, Object.fromEntries(Object.keys(properties).map((property) => [property, undefined])));
};
