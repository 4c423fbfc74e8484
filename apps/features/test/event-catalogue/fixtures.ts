import { expect } from 'vitest';
import { CreateEnvironment, type EventType } from '@bunting/contracts';
import { featureWithoutEnvironments } from '../../src/features/feature.ts';
import { aFeature, aStrategy, type FeatureAbout } from '../builders.ts';
import { direct, type ExpectedEvent, send, type Step } from '../event-catalogue.ts';

// Requests, stored features and expected data that the rows of several nouns share.

export const inShop = { project: 'shop' };
export const shopPath = { projectId: 'shop' };
export const lampPath = { ...shopPath, featureName: 'lamp' };
export const developmentPath = { ...lampPath, environment: 'development' };
export const red = { type: 'simple', value: 'red' };
export const tags = [red];

/** The feature of most rows: tagged, so that each event can show the tags that the feature had. */
const lamp = (properties: FeatureAbout = {}) => aFeature({ name: 'lamp', tags, ...properties });

/** Stores features without events; each is the lamp with the given properties. */
export const storedFeatures = (...features: readonly FeatureAbout[]): Step =>
  direct((started) => started.given(...features.map((properties) => lamp(properties))));

/** The lamp as events show it. */
export const storedLamp = (properties: FeatureAbout = {}) => featureWithoutEnvironments(lamp(properties));

export const archivedAt = '2026-02-01T00:00:00.000Z';

/** An event about the lamp. */
export const lampEvent = (type: EventType, properties: Partial<ExpectedEvent> = {}): ExpectedEvent => ({
  type,
  ...inShop,
  featureName: 'lamp',
  tags,
  ...properties,
});

/** An event about the lamp in the environment `development`. */
export const developmentEvent = (type: EventType, properties: Partial<ExpectedEvent> = {}): ExpectedEvent =>
  lampEvent(type, { environment: 'development', ...properties });

export const strategyId = '8c0f4d2e-0000-4000-8000-000000000001';
export const secondStrategyId = '8c0f4d2e-0000-4000-8000-000000000002';
export const strategy = aStrategy({ id: strategyId });
export const disabledStrategy = { ...strategy, disabled: true };
export const secondStrategy = aStrategy({ id: secondStrategyId, sortOrder: 1 });

/** The strategy of an environment that has no other default strategy. */
export const flexibleRollout = (groupId: string) => ({
  id: expect.any(String),
  name: 'flexibleRollout',
  title: null,
  disabled: false,
  sortOrder: 0,
  constraints: [],
  variants: [],
  segments: [],
  parameters: { rollout: '100', stickiness: 'default', groupId },
});

export const variant = (name: string, weight: number) => ({
  name,
  weight,
  weightType: 'variable' as const,
  stickiness: 'default',
});

export const variantOne = variant('one', 1000);

/** The data of an event about variants. */
export const variantsData = (variants: readonly object[]) => ({ variants });

export const socketDependency = { feature: 'socket', enabled: true, variants: [] };
export const storedLampWithParent = storedFeatures({ name: 'socket' }, { dependencies: [socketDependency] });

/** A segment as events show it. */
export const segmentNamed = (name: string, description: string | null = null) => ({
  id: expect.any(Number),
  name,
  description,
  project: 'shop',
  constraints: [],
  createdBy: 'mia',
  createdAt: expect.any(String),
});

/** A context field as events show it. */
export const contextFieldNamed = (name: string, description: string | null = null) => ({
  name,
  description,
  stickiness: false,
  sortOrder: 0,
  legalValues: [],
});

/** A tag type as events show it. */
export const tagTypeNamed = (name: string, description: string | null = null) => ({
  name,
  description,
  icon: null,
  color: null,
});

export const createEnvironment = (name: string): Step =>
  send(CreateEnvironment, { body: { name, type: 'test', sortOrder: 9 } });
