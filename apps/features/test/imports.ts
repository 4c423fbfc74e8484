import type { Constraint, ExportedFeatures } from '@bunting/contracts';
import { expect } from 'vitest';
import type { Feature } from '../src/features/feature.ts';
import type { ImportAuthorship, ImportDestinationState } from '../src/import-export/import-context.ts';
import { type ImportPlan, planImport } from '../src/import-export/plan-import.ts';
import { aUserReference, someProjectContext, refusalOf } from './builders.ts';

export const constraint: Constraint = {
  contextName: 'appName',
  operator: 'SEMVER_GT',
  value: '4.8.19',
  values: [],
  inverted: false,
  caseInsensitive: false,
};
export const rollout = { rollout: '50', stickiness: 'default', groupId: 'checkout' };

/** An export with two features. `about` replaces members of it. */
export const anExport = (about: Partial<ExportedFeatures> = {}): ExportedFeatures => ({
  features: [
    {
      name: 'checkout',
      description: 'Pays',
      type: 'experiment',
      project: 'elsewhere',
      stale: true,
      impressionData: true,
      archived: false,
    },
    {
      name: 'cart',
      description: '',
      type: 'release',
      project: 'elsewhere',
      stale: false,
      impressionData: false,
      archived: false,
    },
  ],
  featureStrategies: [
    {
      id: '5a0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10',
      name: 'flexibleRollout',
      featureName: 'checkout',
      title: 'Half',
      parameters: rollout,
      constraints: [constraint],
      variants: [
        { name: 'a', weight: 500, weightType: 'variable', stickiness: 'default' },
        { name: 'b', weight: 500, weightType: 'variable', stickiness: 'default' },
      ],
      disabled: false,
      segments: [6],
    },
    { id: '6b0f8a4e-3f5e-4d2e-8f0e-0d6c3f1b2a10', name: 'default', featureName: 'checkout', disabled: true },
  ],
  featureEnvironments: [
    { enabled: true, featureName: 'checkout', environment: 'staging', variants: [], name: 'checkout' },
    { enabled: false, featureName: 'cart', environment: 'staging', variants: [], name: 'cart' },
  ],
  contextFields: [{ name: 'appName', description: '', stickiness: false, sortOrder: 2, legalValues: [] }],
  featureTags: [
    { featureName: 'checkout', tagType: 'risk', tagValue: 'high' },
    { featureName: 'cart', tagType: 'risk', tagValue: 'high' },
  ],
  segments: [{ id: 6, name: 'beta' }],
  tagTypes: [{ name: 'risk', description: 'How bad', icon: null, color: '#FFFFFF' }],
  dependencies: [{ feature: 'checkout', dependencies: [{ feature: 'cart', enabled: true, variants: [] }] }],
  ...about,
});

/** A destination with a segment `beta` that has another id than in the export. `about` replaces members of it. */
export const aDestination = (about: Partial<ImportDestinationState> = {}): ImportDestinationState => ({
  project: 'shop',
  environment: 'development',
  projectContext: someProjectContext({ segments: new Map([[41, { id: 41, name: 'beta', project: null }]]) }),
  features: new Map(),
  children: new Map(),
  tagTypes: new Set(['simple']),
  tags: [],
  takenStrategyIds: new Set(),
  ...about,
});

export const anImportAuthorship = (): ImportAuthorship => {
  let made = 0;
  return {
    caller: { id: 7, name: 'lee', grants: [] },
    now: '2026-11-21T10:00:00.000Z',
    author: aUserReference(7, 'lee'),
    generateId: () => `made-${++made}`,
  };
};
export const planned = (file: ExportedFeatures, destination: ImportDestinationState = aDestination()): ImportPlan =>
  planImport(file, destination, anImportAuthorship());
export const faultsOf = (file: ExportedFeatures, destination: ImportDestinationState = aDestination()) => {
  const refusal = refusalOf(() => planned(file, destination));
  expect(refusal.kind).toBe('ValidationError');
  return refusal.details.map(({ message, path }) => [
    message.replace(/: see the `.*$/, ''),
    path?.replace('/body/data', ''),
  ]);
};

export const byName = (features: readonly Feature[]) => new Map(features.map((feature) => [feature.name, feature]));
