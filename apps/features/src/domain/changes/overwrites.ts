import {
  type Change,
  type ChangeRequestOverwrite,
  isSegmentChange,
  overwriteMessage,
  Refusal,
  type RequestedChange,
} from '@bunting/contracts';
import type { ApplyConflict } from './apply-conflict.ts';
import type { ChangeContext } from './rule.ts';
import { featureRuleOf, ruleOf, segmentRuleOf } from './rules.ts';

/** The current snapshot of the state that a change would replace; null when the object no longer exists. */
export const currentSnapshot = (change: Change, context: ChangeContext): unknown => {
  try {
    if (isSegmentChange(change)) {
      const segment = context.segments.get(change.payload.id);
      return segment === undefined ? null : segmentRuleOf(change).snapshot(segment, change, context);
    }
    const feature = context.features.get(change.feature);
    return feature === undefined ? null : featureRuleOf(change).snapshot(feature, change, context);
  } catch (error) {
    if (error instanceof Refusal) return null;
    throw error;
  }
};

/** The newer edits that a change would overwrite: those since its snapshot. */
export const overwritesOf = ({ change, snapshot }: RequestedChange, context: ChangeContext): ChangeRequestOverwrite[] =>
  ruleOf(change).overwrites(change, { snapshot, current: currentSnapshot(change, context) });

/** The conflicts of changes with newer edits that they would overwrite. */
export const overwriteConflicts = (changes: readonly RequestedChange[], context: ChangeContext): ApplyConflict[] =>
  changes
    .filter((requested) => overwritesOf(requested, context).length > 0)
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
