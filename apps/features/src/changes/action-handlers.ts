import {
  type Change,
  type FeatureAction,
  type FeatureChange,
  isSegmentChange,
  type SegmentAction,
  type SegmentChange,
} from '@bunting/contracts';
import type { StoredSegment } from '../segments/segment.ts';
import type { Feature } from '../features/feature.ts';
import { addDependencyHandler } from './add-dependency-handler.ts';
import { addStrategyHandler } from './add-strategy-handler.ts';
import { archiveFeatureHandler } from './archive-feature-handler.ts';
import { deleteDependencyHandler } from './delete-dependency-handler.ts';
import { deleteSegmentHandler } from './delete-segment-handler.ts';
import { deleteStrategyHandler } from './delete-strategy-handler.ts';
import { patchVariantHandler } from './patch-variant-handler.ts';
import { reorderStrategyHandler } from './reorder-strategy-handler.ts';
import { updateEnabledHandler } from './update-enabled-handler.ts';
import { updateSegmentHandler } from './update-segment-handler.ts';
import { updateStrategyHandler } from './update-strategy-handler.ts';
import type { StateAfterChanges } from './state-after-changes.ts';
import type { FeatureActionHandler, Phase, ActionHandler, SegmentActionHandler } from './action-handler.ts';

/** The handler of each action on a feature. */
export const featureActionHandlers: { readonly [A in FeatureAction]: FeatureActionHandler<A> } = {
  updateEnabled: updateEnabledHandler,
  addStrategy: addStrategyHandler,
  updateStrategy: updateStrategyHandler,
  deleteStrategy: deleteStrategyHandler,
  archiveFeature: archiveFeatureHandler,
  patchVariant: patchVariantHandler,
  reorderStrategy: reorderStrategyHandler,
  addDependency: addDependencyHandler,
  deleteDependency: deleteDependencyHandler,
};

/** The handler of each action on a segment. */
const segmentActionHandlers: { readonly [A in SegmentAction]: SegmentActionHandler<A> } = {
  updateSegment: updateSegmentHandler,
  deleteSegment: deleteSegmentHandler,
};

export const featureHandlerOf = ({ action }: FeatureChange) =>
  featureActionHandlers[action] as ActionHandler<FeatureChange, Feature, Feature>;

export const segmentHandlerOf = ({ action }: SegmentChange) =>
  segmentActionHandlers[action] as ActionHandler<SegmentChange, StoredSegment, StoredSegment | null>;

/** The handler of any change, for those of its members that need no subject. */
export const handlerOf = (change: Change) =>
  (isSegmentChange(change)
    ? segmentActionHandlers[change.action]
    : featureActionHandlers[change.action]) as ActionHandler<Change, never, unknown>;

/** The changes that a phase applies, in the given order, except that children are archived before their parents. */
export const orderedChangesOfPhase = <T extends { readonly change: Change }>(
  items: readonly T[],
  phase: Phase,
  { features }: StateAfterChanges,
): readonly T[] => {
  const ofPhase = items.filter(({ change }) => handlerOf(change).phase === phase);
  const archivesChild = ({ change }: T): boolean =>
    change.action === 'archiveFeature' && (features.get(change.feature)?.dependencies.length ?? 0) > 0;
  return [...ofPhase.filter(archivesChild), ...ofPhase.filter((item) => !archivesChild(item))];
};
