import type { UpdateStrategyBody } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext } from '../../test/builders.ts';
import { aChangeContext, onCheckout } from '../../test/checked-changes.ts';
import { aDestination, anExport, byName, planned } from '../../test/imports.ts';
import { applyInMemory } from '../changes/apply-in-memory.ts';
import { previewChanges } from '../changes/preview-changes.ts';
import { replaceVariants } from '../variants/variant.ts';
import { updateContextField } from '../context-fields/context-field.ts';
import { updateTagType } from '../tags/tag.ts';
import { updateSegment } from '../segments/segment.ts';
import { patchStrategy, updateStrategy } from './edit-strategy.ts';
import type { Strategy } from '../features/feature.ts';

const variant = { name: 'blue', weight: 1000, weightType: 'variable', stickiness: 'default' } as const;
const stored = aStrategy({
  id: 's1',
  name: 'flexibleRollout',
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'mine' },
  constraints: [
    { contextName: 'userId', operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false },
    { contextName: 'userId', operator: 'NUM_GT', values: [], value: '5', inverted: false, caseInsensitive: false },
  ],
  variants: [variant],
  segments: [4, 2],
});
const projectContext = someProjectContext({
  segments: new Map([2, 4].map((id) => [id, { id, name: `segment ${id}`, project: null }])),
});
const ref = { environment: 'development', strategyId: 's1' };
const featureWith = (about: Partial<Strategy>) => aFeature({ strategies: [{ ...stored, ...about }], enabled: true });
const inOtherWords: [string, Partial<Strategy>, UpdateStrategyBody][] = [
  ['another order of its segments', {}, { segments: [2, 4] }],
  ['a segment twice', {}, { segments: [4, 2, 4] }],
  ['an empty title instead of none', { title: null }, { title: '' }],
  ['no title instead of an empty one', { title: '' }, { title: null }],
  ['null for disabled', {}, { disabled: null }],
  [
    'constraints without the flags that have their defaults',
    {},
    {
      constraints: [
        { contextName: 'userId', operator: 'IN', values: ['1'], value: '' },
        { contextName: 'userId', operator: 'NUM_GT', value: '5' },
      ],
    },
  ],
  ['fewer parameters', {}, { parameters: { rollout: '50' } }],
  ['no parameters', {}, { parameters: {} }],
];

describe('a strategy that is sent again is not changed by', () => {
  it.each(inOtherWords)('%s, in an update', (_, about, body) => {
    const feature = featureWith(about);
    const complete = { constraints: [...stored.constraints], variants: [...stored.variants], ...body };
    expect(updateStrategy(feature, ref, complete, projectContext)).toEqual({ feature, events: [] });
  });

  it.each(inOtherWords)('%s, in a patch', (_, about, body) => {
    const feature = featureWith(about);
    const patch = Object.entries(body).map(([name, value]) => ({ op: 'replace' as const, path: `/${name}`, value }));
    expect(patchStrategy(feature, ref, patch, projectContext)).toEqual({ feature, events: [] });
  });

  it.each(inOtherWords)('%s, in a change request', (_, about, body) => {
    const context = aChangeContext([featureWith(about)], { environment: 'development', projectContext });
    const changes = parseChanges([onCheckout('updateStrategy', { id: 's1', ...body })]).map((change) => ({
      id: 1,
      change,
      snapshot: null,
    }));
    expect(previewChanges(changes, context, true).features[0]?.diff).toEqual([]);
    expect(applyInMemory(changes, context).events).toEqual([]);
  });
});

it('an import of strategies and variants in other words changes nothing', () => {
  const { features } = planned(anExport());
  const destination = aDestination({ features: byName(features.map(({ feature }) => feature)) });
  const file = anExport();
  const inOtherWords = file.featureStrategies.map(({ title, constraints, ...strategy }) => ({
    ...strategy,
    title: title ?? '',
    constraints: constraints?.map(({ contextName, operator, value }) => ({
      contextName,
      operator,
      value: value ?? '',
    })),
  }));
  const again = planned(anExport({ featureStrategies: inOtherWords }), destination);
  expect(again.features.flatMap(({ events }) => events)).toEqual([]);
});

it('an empty description and constraints without defaults change no segment', () => {
  const segment = {
    id: 1,
    name: 'beta',
    description: null,
    project: null,
    constraints: stored.constraints,
    createdBy: 'mia',
    createdAt: '2026-01-01T00:00:00.000Z',
  };
  const constraints = stored.constraints.map(({ inverted: _, caseInsensitive: __, ...rest }) => rest);
  const context = { referrers: [], hidden: [], idOfName: () => undefined, projectContext };
  expect(updateSegment(segment, { description: '', constraints }, context)).toEqual({ segment, events: [] });
});

it('an empty description instead of none changes no tag type and no context field', () => {
  const type = { name: 'team', description: null, icon: null, color: null };
  expect(updateTagType(type, { description: '' })).toEqual({ type, events: [] });
  const field = { name: 'plan', description: null, stickiness: false, sortOrder: 1, legalValues: [{ value: 'free' }] };
  const legalValues = [{ value: 'free', description: '' }];
  expect(updateContextField(field, { description: '', legalValues })).toEqual({ field, events: [] });
});

it('variants of a feature that are sent as they are stored keep their weights', () => {
  const weights = { a: 333, b: 334, c: 333 };
  const variants = Object.entries(weights).map(([name, weight]) => ({ ...variant, name, weight }));
  const feature = aFeature({ environments: { development: { enabled: true, strategies: [], variants } } });
  const sent = variants.map((one) => ({ ...one, overrides: [] }));
  expect(replaceVariants(feature, 'development', sent, { path: '/body' })).toEqual({ feature, events: [] });
});
