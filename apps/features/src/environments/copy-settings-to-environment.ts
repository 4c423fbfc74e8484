import { type Decision, type DomainEvent, type Feature, featureEvent } from '../features/feature.ts';
import { publicStrategy } from '../strategies/strategy.ts';
import { inEnvironment, withEnvironment } from '../features/feature-in-environment.ts';

/**
 * Copies strategies of a feature, with new ids, its variants and whether it is enabled from one environment to a new one. Emits nothing for a
 * feature without settings in the source environment.
 */
export const copySettingsToEnvironment = (
  feature: Feature,
  { from, to }: { readonly from: string; readonly to: string },
  generateStrategyId: () => string,
): Decision => {
  const { enabled, strategies, variants } = inEnvironment(feature, from);
  if (!enabled && strategies.length === 0 && variants.length === 0) return { feature, events: [] };
  const copies = strategies.map((strategy) => ({ ...strategy, id: generateStrategyId() }));
  const events: DomainEvent[] = copies.map((strategy) =>
    featureEvent('feature-strategy-add', feature, { environment: to, data: publicStrategy(strategy) }),
  );
  if (variants.length > 0) {
    const [data, preData] = [{ variants }, { variants: [] }];
    events.push(featureEvent('feature-environment-variants-updated', feature, { environment: to, data, preData }));
  }
  if (enabled) events.push(featureEvent('feature-environment-enabled', feature, { environment: to }));
  return { feature: withEnvironment(feature, to, { enabled, strategies: copies, variants }), events };
};
