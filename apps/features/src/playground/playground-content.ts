import type { EvaluableFeature } from '@bunting/evaluation';
import type { Dependency, Feature, FeatureInEnvironment } from '../features/feature.ts';
import type { StoredSegment } from '../segments/segment.ts';
import { inEnvironment, isOnInEnvironment } from '../features/feature-in-environment.ts';

type PlaygroundSegment = Pick<StoredSegment, 'id' | 'name' | 'constraints'>;

/** The properties of a feature on which its evaluation depends, in all environments. */
export interface PlaygroundFeatureContent {
  readonly name: string;
  readonly project: string;
  readonly dependencies: readonly Dependency[];
  readonly environments: Readonly<Record<string, FeatureInEnvironment>>;
}

/** The features and segments that the playground evaluates. */
export interface PlaygroundContent {
  /** the requested environments that exist */
  readonly environments: readonly string[];
  /** by name */
  readonly features: readonly PlaygroundFeatureContent[];
  readonly segments: readonly PlaygroundSegment[];
}

/**
 * The content as it would be after changes to some features and segments. A null segment is deleted, and archived features are left out.
 */
export const withChanges = (
  content: PlaygroundContent,
  changed: { readonly features: Iterable<Feature>; readonly segments: ReadonlyMap<number, StoredSegment | null> },
): PlaygroundContent => {
  const features = new Map(content.features.map((feature) => [feature.name, feature]));
  for (const feature of changed.features) {
    if (!features.has(feature.name)) continue;
    if (feature.archivedAt === null) features.set(feature.name, feature);
    else features.delete(feature.name);
  }
  const segments = new Map(content.segments.map((segment) => [segment.id, segment]));
  for (const [id, segment] of changed.segments) {
    if (segment === null) segments.delete(id);
    else segments.set(id, segment);
  }
  return { ...content, features: [...features.values()], segments: [...segments.values()] };
};

const toEvaluableFeature = (
  { name, dependencies }: PlaygroundFeatureContent,
  settings: FeatureInEnvironment,
): EvaluableFeature => ({
  name,
  enabled: isOnInEnvironment(settings),
  dependencies,
  variants: settings.variants,
  strategies: settings.strategies.filter(({ disabled }) => !disabled),
});

/** The features as SDKs of an environment evaluate them. */
export const toEvaluableFeatures = ({ features }: PlaygroundContent, environment: string): EvaluableFeature[] =>
  features.map((feature) => toEvaluableFeature(feature, inEnvironment(feature, environment)));
