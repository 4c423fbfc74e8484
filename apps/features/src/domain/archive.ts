import { refusal } from '@bunting/contracts';
import { withoutSwitches } from './environments.ts';
import type { Decision, Feature } from './feature.ts';
import { archiveFeature, storedFeature } from './feature-rules.ts';
import { told } from './told.ts';

/** Archives features together: parents go with their children, and not without them. */
export const archiveFeatures = (
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
  now: string,
): readonly Decision[] => {
  const together = new Set(features.map(({ name }) => name));
  const orphans = features
    .filter(({ archivedAt }) => archivedAt === null)
    .flatMap(({ name }) => children.get(name) ?? [])
    .filter((child) => !together.has(child));
  if (orphans.length > 0) {
    const [which, them] = together.size === 1 ? ['this feature', 'it'] : ['those features', 'them'];
    throw refusal(
      'InvalidOperationError',
      `You can not archive/delete ${which} since other features depend on ${them}.`,
    );
  }
  return features.map((feature) => archiveFeature(feature, { children: [] }, now));
};

/** Brings a feature back from the archive, off everywhere and at the beginning of its life. Nothing is told of one that is not there. */
export const reviveFeature = (feature: Feature, now: string): Decision => {
  if (feature.archivedAt === null) return { feature, events: [] };
  const revived: Feature = {
    ...withoutSwitches(feature),
    archivedAt: null,
    lifecycle: [{ stage: 'initial', enteredStageAt: now }],
  };
  return { feature: revived, events: [told('feature-revived', revived)] };
};

/** What is told of an archived feature that is deleted for good; nothing of one that is not archived, which stays. */
export const deletion = (feature: Feature): Decision => ({
  feature,
  events: feature.archivedAt === null ? [] : [told('feature-deleted', feature, { preData: storedFeature(feature) })],
});
