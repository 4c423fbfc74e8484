import {
  asJsonObject,
  type ChangeRequestOverwrite,
  comparableMember,
  isEqual,
  isJsonObject,
  type JsonObject,
  memberOf,
} from '@bunting/contracts';

/** The value that a change replaces: as it was when the change was proposed, and as it is now. Null where there is none. */
export interface SnapshotComparison {
  readonly snapshot: unknown;
  readonly current: unknown;
}

function isListOfObjects(value: unknown): boolean {
  return Array.isArray(value) && value.some(isJsonObject);
}

function editsAmong(
  properties: readonly string[],
  snapshot: JsonObject,
  current: JsonObject,
  proposed: JsonObject,
  comparable: (property: string, value: unknown) => unknown = comparableMember,
): ChangeRequestOverwrite[] {
  return properties.flatMap((property): ChangeRequestOverwrite[] => {
    const [of, now, then] = [snapshot, current, proposed].map((state) => memberOf(state, property));
    if (property === 'parameters') {
      const [snapshotParameters, currentParameters] = [asJsonObject(of), asJsonObject(now)];
      // Parameters that an update leaves out stay, unless they belong to another type of strategy.
      const keepsOthers = isJsonObject(then) && (proposed['name'] ?? current['name']) === current['name'];
      const names = keepsOthers
        ? Object.keys(then)
        : [...new Set([...Object.keys(currentParameters), ...Object.keys(snapshotParameters)])];
      const edits = editsAmong(
        names,
        snapshotParameters,
        currentParameters,
        asJsonObject(then),
        (_, value) => value ?? null,
      );
      return edits.map((edit) => ({ ...edit, property: `parameters.${edit.property}` }));
    }
    const differ = (one: unknown, other: unknown): boolean =>
      !isEqual(comparable(property, one), comparable(property, other));
    if (!differ(of, now) || !differ(then, now)) return [];
    const shown = (value: unknown): unknown => (isListOfObjects(value) ? value : comparable(property, value));
    return [{ property, snapshot: shown(of), current: shown(now), proposed: shown(then) }];
  });
}

/**
 * The edits since the snapshot that the proposal would overwrite: of properties whose current value is neither the snapshot's nor the
 * proposed one.
 */
export function findNewerEdits(
  { snapshot, current }: SnapshotComparison,
  proposed: JsonObject,
): ChangeRequestOverwrite[] {
  if (snapshot === null || snapshot === undefined || current === null) return [];
  return editsAmong(Object.keys(proposed), asJsonObject(snapshot), asJsonObject(current), proposed);
}

/** All edits since the snapshot of an object that is to be deleted, except those of its sort order. */
export function findEditsLostByDeletion(states: SnapshotComparison): ChangeRequestOverwrite[] {
  const { id: _, sortOrder: __, ...properties } = asJsonObject(states.current);
  return findNewerEdits(states, Object.fromEntries(Object.keys(properties).map((property) => [property, undefined])));
}
