import { type CloneFeatureBody, type FeatureType } from '@bunting/contracts';
import { type Decision, type DomainEvent, type Feature, type Strategy, featureEvent } from './feature.ts';
import { changeMetadata } from './metadata.ts';
import { createFeature, type FeatureCreation } from './create-feature.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { archivedFeatureRefused } from '../refusals.ts';

/** Sets the group of a copied strategy, so that the clone divides users independently of its source. */
const withGroupId = (strategy: Strategy, groupId: string): Strategy =>
  strategy.parameters['groupId'] === undefined
    ? strategy
    : { ...strategy, parameters: { ...strategy.parameters, groupId } };

/**
 * Creates a feature like another one: its strategies, with new ids, its variants and its parent; off everywhere, and without
 * its tags. Whether its name is free is not decided here.
 * @throws Refusal for an archived source: what its strategies refer to may have been deleted.
 */
export const cloneFeature = (
  source: Feature,
  { name, replaceGroupId = true }: CloneFeatureBody,
  origin: FeatureCreation,
  generateStrategyId: () => string,
): Decision => {
  if (source.archivedAt !== null) throw archivedFeatureRefused();
  const metadata = { ...changeMetadata(source), type: source.type as FeatureType };
  const created = createFeature({ ...metadata, name }, origin);
  const environments = Object.entries(source.environments).map(([environment, { strategies, variants }]) => {
    const copies = strategies
      .map((strategy) => ({ ...strategy, id: generateStrategyId() }))
      .map((strategy) => (replaceGroupId ? withGroupId(strategy, name) : strategy));
    return [environment, { enabled: false, strategies: copies, variants }] as const;
  });
  const { dependencies } = source;
  const feature: Feature = { ...created.feature, environments: Object.fromEntries(environments), dependencies };
  const events: DomainEvent[] = environments.flatMap(([environment, { strategies }]) =>
    strategies.map((strategy) =>
      featureEvent('feature-strategy-add', feature, { environment, data: publicStrategy(strategy) }),
    ),
  );
  for (const dependency of dependencies)
    events.push(featureEvent('feature-dependency-added', feature, { data: dependency }));
  return { feature, events: [...created.events, ...events] };
};
