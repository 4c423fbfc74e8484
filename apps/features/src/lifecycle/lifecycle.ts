import type { CompleteFeatureBody } from '@bunting/contracts';
import { type Decision, type Feature, type EnteredStage, featureEvent } from '../features/feature.ts';

const completionOf = ({ lifecycle }: Feature): EnteredStage | undefined =>
  lifecycle.find(({ stage }) => stage === 'completed');

const withoutCompletion = ({ lifecycle }: Feature): readonly EnteredStage[] =>
  lifecycle.filter(({ stage }) => stage !== 'completed');

/** Marks a feature as completed. The time of the first completion stays. */
export const completeFeature = (
  feature: Feature,
  { status, statusValue }: CompleteFeatureBody,
  now: string,
): Decision => {
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
};

/** Reverts the completion of a feature, which returns to its previous stage. */
export const uncompleteFeature = (feature: Feature): Decision =>
  completionOf(feature) === undefined
    ? { feature, events: [] }
    : {
        feature: { ...feature, lifecycle: withoutCompletion(feature) },
        events: [featureEvent('feature-uncompleted', feature)],
      };
