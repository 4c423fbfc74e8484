import { refusal } from '@bunting/contracts';
import { type Decision, type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';

/** Refuses to archive features on which others depend. @param archived the number of the features */
const requireNoChildren = (archived: number, children: readonly string[]): void => {
  if (children.length === 0) return;
  const [which, them] = archived === 1 ? ['this feature', 'it'] : ['those features', 'them'];
  throw refusal('InvalidOperationError', `You can not archive/delete ${which} since other features depend on ${them}.`);
};

/**
 * Archives a feature and removes its dependencies. An archived feature stays unchanged, without events.
 * @param children the active features that depend on it
 */
export const archiveFeature = (feature: Feature, children: readonly string[], now: string): Decision => {
  if (feature.archivedAt !== null) return { feature, events: [] };
  requireNoChildren(1, children);
  const events: DomainEvent[] = [];
  if (feature.dependencies.length > 0) events.push(featureEvent('feature-dependencies-removed', feature));
  events.push(featureEvent('feature-archived', feature));
  const lifecycle = [...feature.lifecycle, { stage: 'archived', enteredStageAt: now } as const];
  return { feature: { ...feature, archivedAt: now, dependencies: [], lifecycle }, events };
};

/** Refuses to archive or delete active features without their children. */
export const requireChildrenAmong = (
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
): void => {
  const names = new Set(features.map(({ name }) => name));
  const orphans = features
    .filter(({ archivedAt }) => archivedAt === null)
    .flatMap(({ name }) => children.get(name) ?? [])
    .filter((child) => !names.has(child));
  requireNoChildren(names.size, orphans);
};

/** Archives features. A parent can be archived only if all of its children are archived with it. */
export const archiveFeatures = (
  features: readonly Feature[],
  children: ReadonlyMap<string, readonly string[]>,
  now: string,
): readonly Decision[] => {
  requireChildrenAmong(features, children);
  return features.map((feature) => archiveFeature(feature, [], now));
};
