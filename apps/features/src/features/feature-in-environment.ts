import type { Feature, FeatureInEnvironment } from './feature.ts';

/** The settings of a feature in an environment for which none are stored. */
export const emptyEnvironment: FeatureInEnvironment = { enabled: false, strategies: [], variants: [] };

/**
 * The settings of a feature in one environment; disabled and empty where none are stored, also for an environment named like a property of
 * every object, such as `constructor`.
 */
export const inEnvironment = (
  { environments }: Pick<Feature, 'environments'>,
  environment: string,
): FeatureInEnvironment =>
  Object.hasOwn(environments, environment) ? (environments[environment] ?? emptyEnvironment) : emptyEnvironment;

/** The feature with changed settings in one environment. */
export const withEnvironment = (
  feature: Feature,
  environment: string,
  change: Partial<FeatureInEnvironment>,
): Feature => ({
  ...feature,
  environments: { ...feature.environments, [environment]: { ...inEnvironment(feature, environment), ...change } },
});

/**
 * Whether a feature is on for any user: it is enabled, and not all of its strategies are disabled. One without strategies is on for every
 * user.
 */
export const isOnInEnvironment = ({ enabled, strategies }: FeatureInEnvironment): boolean =>
  enabled && (strategies.length === 0 || strategies.some(({ disabled }) => !disabled));

/** The number of active features that are enabled in an environment. */
export const countEnabled = (features: readonly Feature[], environment: string): number =>
  features.filter((feature) => feature.archivedAt === null && inEnvironment(feature, environment).enabled).length;

/** The feature, disabled in every environment, without events. */
export const disabledEverywhere = (feature: Feature): Feature => ({
  ...feature,
  environments: Object.fromEntries(
    Object.entries(feature.environments).map(([name, environment]) => [name, { ...environment, enabled: false }]),
  ),
});
