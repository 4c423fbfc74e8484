import { asJsonObject, type ChangeRequestOverwrite, isEqual, type JsonObject, memberOf } from '@bunting/contracts';

/** The value that a change replaces: as it was when the change was proposed, and as it is now. Null where there is none. */
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
      const parametersOf = (state: JsonObject): JsonObject => asJsonObject(memberOf(state, property)) ?? {};
      const [snapshotParameters, currentParameters] = [parametersOf(snapshot), parametersOf(current)];
      const names = [...new Set([...Object.keys(currentParameters), ...Object.keys(snapshotParameters)])];
      return editsAmong(names, snapshotParameters, currentParameters, parametersOf(proposed)).map((edit) => ({
        ...edit,
        property: `parameters.${edit.property}`,
      }));
    }
    const valueIn = (state: JsonObject): unknown => normalize(property, memberOf(state, property));
    const edit = { snapshot: valueIn(snapshot), current: valueIn(current), proposed: valueIn(proposed) };
    const isOverwritten = !isEqual(edit.snapshot, edit.current) && !isEqual(edit.proposed, edit.current);
    return isOverwritten ? [{ property, ...edit }] : [];
  });

/**
 * The edits since the snapshot that the proposal would overwrite: of properties whose current value is neither the snapshot's nor the
 * proposed one.
 */
export const findNewerEdits = (
  { snapshot, current }: SnapshotComparison,
  proposed: JsonObject,
): ChangeRequestOverwrite[] => {
  if (snapshot === null || snapshot === undefined || current === null) return [];
  return editsAmong(Object.keys(proposed), asJsonObject(snapshot), asJsonObject(current), proposed);
};

/** All edits since the snapshot of an object that is to be deleted, except those of its sort order. */
export const findEditsLostByDeletion = (states: SnapshotComparison): ChangeRequestOverwrite[] => {
  const { id: _, sortOrder: __, ...properties } = asJsonObject(states.current);
  return findNewerEdits(states, Object.fromEntries(Object.keys(properties).map((property) => [property, undefined])));
};
