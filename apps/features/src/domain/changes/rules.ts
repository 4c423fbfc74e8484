import {
  type Change,
  type FeatureAction,
  type FeatureChange,
  isSegmentChange,
  type SegmentAction,
  type SegmentChange,
} from '@bunting/contracts';
import type { StoredSegment } from '../constraints/segment.ts';
import type { Feature } from '../features/feature.ts';
import { addDependencyRule } from './actions/add-dependency.ts';
import { addStrategyRule } from './actions/add-strategy.ts';
import { archiveFeatureRule } from './actions/archive-feature.ts';
import { deleteDependencyRule } from './actions/delete-dependency.ts';
import { deleteSegmentRule } from './actions/delete-segment.ts';
import { deleteStrategyRule } from './actions/delete-strategy.ts';
import { patchVariantRule } from './actions/patch-variant.ts';
import { reorderStrategyRule } from './actions/reorder-strategy.ts';
import { updateEnabledRule } from './actions/update-enabled.ts';
import { updateSegmentRule } from './actions/update-segment.ts';
import { updateStrategyRule } from './actions/update-strategy.ts';
import type { StateAfterChanges } from './state-after-changes.ts';
import type { FeatureRule, Phase, Rule, SegmentRule } from './rule.ts';

/** The rule of each action on a feature. */
export const featureRules: { readonly [A in FeatureAction]: FeatureRule<A> } = {
  updateEnabled: updateEnabledRule,
  addStrategy: addStrategyRule,
  updateStrategy: updateStrategyRule,
  deleteStrategy: deleteStrategyRule,
  archiveFeature: archiveFeatureRule,
  patchVariant: patchVariantRule,
  reorderStrategy: reorderStrategyRule,
  addDependency: addDependencyRule,
  deleteDependency: deleteDependencyRule,
};

/** The rule of each action on a segment. */
const segmentRules: { readonly [A in SegmentAction]: SegmentRule<A> } = {
  updateSegment: updateSegmentRule,
  deleteSegment: deleteSegmentRule,
};

export const featureRuleOf = ({ action }: FeatureChange) =>
  featureRules[action] as Rule<FeatureChange, Feature, Feature>;

export const segmentRuleOf = ({ action }: SegmentChange) =>
  segmentRules[action] as Rule<SegmentChange, StoredSegment, StoredSegment | null>;

/** The rule of a change, for what it says without its subject. */
export const ruleOf = (change: Change) =>
  (isSegmentChange(change) ? segmentRules[change.action] : featureRules[change.action]) as Rule<Change, never, unknown>;

/** Those of the changes that a phase applies, in their order, except that children are archived before their parents. */
export const orderedChangesOfPhase = <T extends { readonly change: Change }>(
  items: readonly T[],
  phase: Phase,
  { features }: StateAfterChanges,
): readonly T[] => {
  const ofPhase = items.filter(({ change }) => ruleOf(change).phase === phase);
  const archivesChild = ({ change }: T): boolean =>
    change.action === 'archiveFeature' && (features.get(change.feature)?.dependencies.length ?? 0) > 0;
  return [...ofPhase.filter(archivesChild), ...ofPhase.filter((item) => !archivesChild(item))];
};
