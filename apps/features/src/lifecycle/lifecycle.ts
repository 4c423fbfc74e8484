import type { CompleteFeatureBody } from '@bunting/contracts';
import { type Decision, type Feature, type EnteredStage, featureEvent } from '../features/feature.ts';

function completionOf({ lifecycle }: Feature): EnteredStage | undefined {
  return lifecycle.find(({ stage }) => stage === 'completed');
}

function withoutCompletion({ lifecycle }: Feature): readonly EnteredStage[] {
  return lifecycle.filter(({ stage }) => stage !== 'completed');
}

/** Marks a feature as completed. The time of the first completion stays. */
export function completeFeature(feature: Feature, { status, statusValue }: CompleteFeatureBody, now: string): Decision {
  const before = completionOf(feature);
  if (before?.status === status) return { feature, events: [] };
  const completion: EnteredStage = { stage: 'completed', status, enteredStageAt: before?.enteredStageAt ?? now };
  const value = statusValue === undefined ? {} : { statusValue };
  const lifecycle =
    before === undefined
      ? [...feature.lifecycle, completion]
      : feature.lifecycle.map((stage) => (stage === before ? completion : stage));
  return {
    feature: { ...feature, lifecycle },
    events: [featureEvent('feature-completed', feature, { data: { status, ...value, kept: status === 'kept' } })],
  };
}

/** Reverts the completion of a feature, which returns to its previous stage. */
export function uncompleteFeature(feature: Feature): Decision {
  return completionOf(feature) === undefined
    ? { feature, events: [] }
    : {
        feature: { ...feature, lifecycle: withoutCompletion(feature) },
        events: [featureEvent('feature-uncompleted', feature)],
      };
}
