import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, type FeatureAbout } from '../../test/builders.ts';
import { newReferences, type NewReferences } from './lock-references.ts';

const constraint = { contextName: 'userId', operator: 'IN' as const, values: ['mia'] };
const red = { type: 'simple', value: 'red' };
const about: FeatureAbout = { tags: [red], strategies: [aStrategy({ segments: [4], constraints: [constraint] })] };
const stored = aFeature(about);
const none: NewReferences = {
  segments: [],
  contextFields: [],
  strategyTypes: [],
  tags: [],
  environments: [],
  projects: [],
};
const ofStrategies = {
  segments: [{ id: 4, project: 'shop' }],
  contextFields: ['userId'],
  strategyTypes: ['default'],
};
const environments = [{ project: 'shop', name: 'development' }];

describe('the new references', () => {
  it('of a new feature are all of its references, but not its project, which is locked before', () => {
    expect(newReferences({ before: undefined, after: stored })).toEqual({
      ...ofStrategies,
      tags: [red],
      environments,
      projects: [],
    });
  });

  it('of a feature with the same references are none', () => {
    expect(newReferences({ before: stored, after: { ...stored, stale: true } })).toEqual(none);
  });

  it('of a strategy and a tag that are added are theirs', () => {
    const bare = aFeature();
    expect(newReferences({ before: bare, after: stored })).toEqual({
      ...ofStrategies,
      tags: [red],
      environments: [],
      projects: [],
    });
  });

  it('of a revived feature are those of its strategies, which may have been deleted, and its project', () => {
    const archived = { ...stored, archivedAt: '2026-02-01T00:00:00.000Z' };
    expect(newReferences({ before: archived, after: stored })).toEqual({
      ...none,
      ...ofStrategies,
      projects: ['shop'],
    });
  });

  it('of a feature that moves are its segments and environments in the other project, and that project', () => {
    expect(newReferences({ before: stored, after: { ...stored, project: 'garage' } })).toEqual({
      ...none,
      segments: [{ id: 4, project: 'garage' }],
      environments: [{ project: 'garage', name: 'development' }],
      projects: ['garage'],
    });
  });

  it('of a clone are none that its locked source has', () => {
    const clone = { ...stored, name: 'clone', tags: [] };
    expect(newReferences({ before: undefined, after: clone, like: stored })).toEqual(none);
  });
});
