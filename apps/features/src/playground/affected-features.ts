import { type Change, invalidProperty } from '@bunting/contracts';
import { featureNamesOf, segmentIdsOf } from '../changes/subjects-of-changes.ts';
import type { Feature } from '../features/feature.ts';
import type { PlaygroundContent } from './playground-content.ts';
import { inEnvironment } from '../features/feature-in-environment.ts';

/** The maximum number of features in one request. */
export const maxFeaturesOfImpact = 20;

/**
 * The names of the features that changes affect: those that they change, and those that use a changed segment in the environment.
 * Features of hidden projects are left out.
 * @throws Refusal when there are more than `maxFeaturesOfImpact`
 */
export const affectedFeatures = (
  { features }: PlaygroundContent,
  changes: readonly Change[],
  environment: string,
  hidden: readonly string[],
): Feature['name'][] => {
  const changed = new Set(featureNamesOf(changes));
  const segments = new Set(segmentIdsOf(changes));
  const usesChangedSegment = (feature: Pick<Feature, 'environments'>): boolean =>
    inEnvironment(feature, environment).strategies.some((strategy) => strategy.segments.some((id) => segments.has(id)));
  const affected = features.filter(
    (feature) => !hidden.includes(feature.project) && (changed.has(feature.name) || usesChangedSegment(feature)),
  );
  if (affected.length > maxFeaturesOfImpact) {
    const reason = `The changes concern more than ${maxFeaturesOfImpact} features, the limit of one request`;
    throw invalidProperty(reason, '/body/changes');
  }
  return affected.map(({ name }) => name);
};
