import type { ClientStrategy, DeliveredDependency, DeliveredEnvironment, DeliveredFeature } from '@bunting/contracts';
import type { Dependency, Feature, FeatureInEnvironment, Strategy } from '../features/feature.ts';
import { isOnInEnvironment } from '../features/feature-in-environment.ts';

const deliveredStrategy = ({ name, constraints, parameters, variants, segments }: Strategy): ClientStrategy => ({
  name,
  constraints: [...constraints],
  parameters,
  variants: [...variants],
  ...(segments.length === 0 ? {} : { segments: segments.toSorted((one, other) => one - other) }),
});

const deliveredEnvironment = (settings: FeatureInEnvironment): DeliveredEnvironment => ({
  enabled: isOnInEnvironment(settings),
  strategies: settings.strategies.filter(({ disabled }) => !disabled).map(deliveredStrategy),
  variants: settings.variants,
});

const deliveredDependency = ({ feature, enabled, variants }: Dependency): DeliveredDependency =>
  enabled ? { feature, enabled, variants } : { feature, enabled };

/** The parts of a feature that SDKs evaluate, in each environment for which it has settings. */
export const toDeliveredFeature = (feature: Feature): DeliveredFeature => {
  const { name, project, type, description, stale, impressionData, tags, dependencies, environments } = feature;
  if (feature.archivedAt !== null) return { name, project, archived: true };
  return {
    name,
    project,
    archived: false,
    type,
    description,
    stale,
    impressionData,
    tags: tags.map((tag) => ({ type: tag.type, value: tag.value })),
    dependencies: dependencies.map(deliveredDependency),
    environments: Object.fromEntries(
      Object.entries(environments).map(([environment, settings]) => [environment, deliveredEnvironment(settings)]),
    ),
  };
};
