import { describe, expect, it } from 'vitest';
import type { ExportedFeatures } from '@bunting/contracts';
import { batchesOf } from './import-batches.ts';

const roomy = { features: 500, bytes: 1_000_000 };

/** An export of features that each have a strategy, a tag and a state. */
function exportOf(names: readonly string[], more: Partial<ExportedFeatures> = {}): ExportedFeatures {
  return {
    features: names.map((name) => ({ name })),
    featureStrategies: names.map((featureName) => ({
      featureName,
      name: 'default',
      segments: [names.indexOf(featureName)],
      constraints: [{ contextName: `field-${featureName}`, operator: 'IN', values: ['1'] }],
    })),
    featureEnvironments: names.map((featureName) => ({ featureName, enabled: true })),
    featureTags: names.map((featureName) => ({ featureName, tagType: `type-${featureName}`, tagValue: 'x1' })),
    contextFields: names.map((name) => ({ name: `field-${name}` })),
    segments: names.map((name, id) => ({ id, name: `segment-${name}` })),
    tagTypes: names.map((name) => ({ name: `type-${name}` })),
    dependencies: [],
    ...more,
  };
}
function namesIn(parts: readonly ExportedFeatures[]): string[][] {
  return parts.map(({ features }) => features.map(({ name }) => name));
}
function dependsOn(feature: string, parent: string) {
  return {
    feature,
    dependencies: [{ feature: parent, enabled: true, variants: [] }],
  };
}

describe('an export in batches', () => {
  it('keeps each feature with its strategies, tags and referenced objects', () => {
    const links = ['a', 'b', 'c'].map((feature) => ({ feature, links: [{ url: `https://${feature}.example` }] }));
    const data = exportOf(['a', 'b', 'c'], { links });
    const parts = batchesOf(data, { ...roomy, features: 1 });
    expect(parts).toHaveLength(3);
    expect(parts[1]).toEqual({
      features: [{ name: 'b' }],
      featureStrategies: [data.featureStrategies[1]],
      featureEnvironments: [{ featureName: 'b', enabled: true }],
      featureTags: [{ featureName: 'b', tagType: 'type-b', tagValue: 'x1' }],
      contextFields: [{ name: 'field-b' }],
      segments: [{ id: 1, name: 'segment-b' }],
      tagTypes: [{ name: 'type-b' }],
      dependencies: [],
      links: [links[1]],
    });
  });

  it('puts parents before those that depend on them', () => {
    const dependencies = [dependsOn('a', 'd'), dependsOn('b', 'c')];
    const data = exportOf(['a', 'b', 'c', 'd', 'e'], { dependencies });
    expect(namesIn(batchesOf(data, { ...roomy, features: 2 }))).toEqual([['c', 'd'], ['e', 'a'], ['b']]);
  });

  it('has batches up to the size of one request, unless one feature exceeds it', () => {
    const data = exportOf(['a', 'b', 'c', 'd']);
    Object.assign(data.features[2] as object, { description: 'x'.repeat(5_000) });
    const parts = batchesOf(data, { ...roomy, bytes: 1_000 });
    expect(namesIn(parts)).toEqual([['a', 'b'], ['c'], ['d']]);
    expect(namesIn(batchesOf(exportOf([]), roomy))).toEqual([]);
  });

  it('refuses duplicate features and orphaned objects', () => {
    expect(() => batchesOf(exportOf(['a', 'a']), roomy)).toThrow('The file has the feature "a" twice.');
    const { featureTags = [] } = exportOf(['a', 'lost']);
    expect(() => batchesOf(exportOf(['a'], { featureTags }), roomy)).toThrow(/not whole.*"lost"/);
  });
});
