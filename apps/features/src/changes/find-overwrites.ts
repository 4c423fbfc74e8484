import {
  type Change,
  type ChangeRequestOverwrite,
  isSegmentChange,
  overwriteMessage,
  Refusal,
  type ChangeWithSnapshot,
} from '@bunting/contracts';
import type { ApplyConflict } from './find-conflicts.ts';
import type { ChangeContext } from './change-context.ts';
import { featureHandlerOf, handlerOf, segmentHandlerOf } from './action-handlers.ts';

/** The current snapshot of the state that a change would replace; null when the object no longer exists. */
export const currentSnapshot = (change: Change, context: ChangeContext): unknown => {
  try {
    if (isSegmentChange(change)) {
      const segment = context.segments.get(change.payload.id);
      return segment === undefined ? null : segmentHandlerOf(change).snapshot(segment, change, context);
    }
    const feature = context.features.get(change.feature);
    return feature === undefined ? null : featureHandlerOf(change).snapshot(feature, change, context);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** The newer edits that a change would overwrite: those since its snapshot. */
export const findOverwrites = (
  { change, snapshot }: ChangeWithSnapshot,
  context: ChangeContext,
): ChangeRequestOverwrite[] =>
  handlerOf(change).overwrites(change, { snapshot, current: currentSnapshot(change, context) });

/** The conflicts of changes with newer edits that they would overwrite. */
export const findOverwriteConflicts = (
  changes: readonly ChangeWithSnapshot[],
  context: ChangeContext,
): ApplyConflict[] =>
  changes
    .filter((requested) => findOverwrites(requested, context).length > 0)
    .map(({ id: changeId, change }) => {
      const code = 'overwrite' as const;
      const { environment } = context;
      const { action, payload } = change;
      if (isSegmentChange(change)) {
        const { id } = change.payload;
        const segment = { id, name: context.segments.get(id)?.name ?? '' };
        const message = overwriteMessage({ action, feature: null, segment, payload }, environment);
        return { code, message, segment: id, changeId };
      }
      const { feature } = change;
      const message = overwriteMessage({ action, feature, segment: null, payload }, environment);
      return { code, message, feature, changeId };
    });
