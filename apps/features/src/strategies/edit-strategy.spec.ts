import type {
  JsonPatch,
  PatchOperation,
  StrategyProperties,
  StrategyVariant,
  UpdateStrategyBody,
} from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from 'vitest';
import { aFeature, aStrategy, someProjectContext, refusalOf } from '../../test/builders.ts';
import { aChangeContext, onCheckout } from '../../test/checked-changes.ts';
import { aDestination, anExport, byName, planned } from '../../test/imports.ts';
import { applyInMemory } from '../changes/apply-in-memory.ts';
import { previewChanges } from '../changes/preview-changes.ts';
import { updateContextField } from '../context-fields/context-field.ts';
import { type Decision, inEnvironment, type Strategy } from '../features/feature.ts';
import { fixedResourceLimits } from '../names.ts';
import type { SegmentReference } from '../projects/project-context.ts';
import { updateSegment } from '../segments/segment.ts';
import { updateTagType } from '../tags/tag.ts';
import { replaceVariants } from '../variants/variant.ts';
import { addStrategy, patchStrategy, removeStrategy, reorderStrategies, updateStrategy } from './edit-strategy.ts';
import { strategyOf } from './strategy.ts';

const id = '8c0f4d2e-0000-4000-8000-000000000001';
const at = { environment: 'development', strategyId: id };
const segments: SegmentReference[] = [
  ...Array.from({ length: 8 }, (_, nth) => ({ id: nth + 1, name: `segment-${nth + 1}`, project: null })),
  { id: 20, name: 'ours', project: 'shop' },
  { id: 21, name: 'theirs', project: 'garage' },
];
const projectContext = someProjectContext({ segments: new Map(segments.map((segment) => [segment.id, segment])) });

const rollout = { rollout: '50', stickiness: 'userId', groupId: 'checkout' };
const stored = aStrategy({
  id,
  name: 'flexibleRollout',
  title: 'Half of Oslo',
  sortOrder: 3,
  parameters: rollout,
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false }],
  variants: [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }],
  segments: [1, 2],
});

const decided = (patch: JsonPatch, strategy: Strategy = stored): Decision =>
  patchStrategy(aFeature({ strategies: [strategy] }), at, patch, projectContext);
const patched = (...patch: PatchOperation[]): Strategy => strategyOf(decided(patch).feature, at);

describe('a patch of a strategy', () => {
  it.each<[string, PatchOperation[], Partial<Strategy>]>([
    [
      'changes the type and keeps the settings',
      [{ op: 'replace', path: '/name', value: 'default' }],
      { name: 'default', parameters: rollout },
    ],
    ['changes the title', [{ op: 'replace', path: '/title', value: 'All of Oslo' }], { title: 'All of Oslo' }],
    ['takes the title away', [{ op: 'remove', path: '/title' }], { title: null }],
    ['takes the title away with null', [{ op: 'replace', path: '/title', value: null }], { title: null }],
    ['moves the title away', [{ op: 'move', from: '/title', path: '/featureName' }], { title: null }],
    ['can blank the title', [{ op: 'replace', path: '/title', value: '' }], { title: '' }],
    ['disables', [{ op: 'replace', path: '/disabled', value: true }], { disabled: true }],
    ['takes all constraints away', [{ op: 'remove', path: '/constraints' }], { constraints: [] }],
    ['takes one constraint away', [{ op: 'remove', path: '/constraints/0' }], { constraints: [] }],
    ['takes all variants away', [{ op: 'remove', path: '/variants' }], { variants: [] }],
    ['takes all segments away', [{ op: 'replace', path: '/segments', value: [] }], { segments: [] }],
    ['adds a segment', [{ op: 'add', path: '/segments/-', value: 20 }], { segments: [1, 2, 20] }],
    ['attaches a segment once', [{ op: 'replace', path: '/segments', value: [3, 3, 1] }], { segments: [3, 1] }],
    [
      'changes one setting',
      [{ op: 'replace', path: '/parameters/rollout', value: '10' }],
      { parameters: { ...rollout, rollout: '10' } },
    ],
    ['adds a setting', [{ op: 'add', path: '/parameters/x', value: '' }], { parameters: { ...rollout, x: '' } }],
    [
      'replaces all settings but those that decide who is in the rollout',
      [{ op: 'replace', path: '/parameters', value: { x: '1' } }],
      { parameters: { ...rollout, x: '1' } },
    ],
    [
      'adds a constraint in its normal form',
      [{ op: 'add', path: '/constraints/-', value: { contextName: 'appName', operator: 'NUM_GT', value: '5' } }],
      {
        constraints: [
          ...stored.constraints,
          {
            contextName: 'appName',
            operator: 'NUM_GT',
            value: '5',
            values: [],
            inverted: false,
            caseInsensitive: false,
          },
        ],
      },
    ],
  ])('%s, and nothing else', (_, patch, expected) => {
    expect(patched(...patch)).toEqual({ ...stored, ...expected });
  });

  it.each<[string, PatchOperation[]]>([
    ['it is neither disabled nor not', [{ op: 'replace', path: '/disabled', value: null }]],
    ['disabled is taken away', [{ op: 'remove', path: '/disabled' }]],
    ['the settings are taken away', [{ op: 'remove', path: '/parameters' }]],
    ['the segments are taken away', [{ op: 'remove', path: '/segments' }]],
    ['a setting of the rollout is taken away', [{ op: 'remove', path: '/parameters/stickiness' }]],
    ['the settings of the rollout are emptied', [{ op: 'replace', path: '/parameters', value: { groupId: '' } }]],
    ['the place is changed', [{ op: 'replace', path: '/sortOrder', value: 99 }]],
    ['the place is taken away', [{ op: 'remove', path: '/sortOrder' }]],
    ['the id is changed', [{ op: 'replace', path: '/id', value: 'another' }]],
    ['the id is taken away', [{ op: 'remove', path: '/id' }]],
    ['a feature is named', [{ op: 'add', path: '/featureName', value: 'another' }]],
    ['there are no steps', []],
    [
      'all is as it was',
      [{ op: 'replace', path: '/parameters', value: { groupId: 'checkout', stickiness: 'userId', rollout: '50' } }],
    ],
    ['only a weight that is shared is changed', [{ op: 'replace', path: '/variants/0/weight', value: 3 }]],
  ])('changes and emits nothing when %s', (_, patch) => {
    const feature = aFeature({ strategies: [stored] });
    expect(patchStrategy(feature, at, patch, projectContext)).toEqual({ feature, events: [] });
  });

  it('takes settings away that do not decide who is in a rollout', () => {
    const custom = { ...stored, name: 'default', parameters: { a: '1', b: '2' } };
    const { feature } = decided([{ op: 'remove', path: '/parameters/a' }], custom);
    expect(strategyOf(feature, at).parameters).toEqual({ b: '2' });
  });

  it('adds no percentage to a rollout that was imported without one', () => {
    const { feature } = decided([{ op: 'add', path: '/parameters/x', value: '1' }], { ...stored, parameters: {} });
    expect(strategyOf(feature, at).parameters).toEqual({ x: '1' });
  });

  it('of the whole strategy keeps omitted properties, except constraints and variants', () => {
    expect(patched({ op: 'replace', path: '', value: { name: 'default' } })).toEqual({
      ...stored,
      name: 'default',
      constraints: [],
      variants: [],
    });
  });

  it('distributes the weights of variants in the order of the patch', () => {
    const value = ['b', 'a', 'c'].map((name) => ({ name, weight: 0, weightType: 'variable', stickiness: 'default' }));
    expect(
      patched({ op: 'replace', path: '/variants', value }).variants.map(({ name, weight }) => [name, weight]),
    ).toEqual([
      ['a', 333],
      ['b', 334],
      ['c', 333],
    ]);
  });

  it('emits the strategy before and after', () => {
    const feature = aFeature({ strategies: [stored], tags: [{ type: 'team', value: 'oslo' }] });
    const { events } = patchStrategy(feature, at, [{ op: 'replace', path: '/title', value: 'New' }], projectContext);
    expect(events).toEqual([
      {
        type: 'feature-strategy-update',
        project: 'shop',
        featureName: 'checkout',
        environment: 'development',
        tags: [{ type: 'team', value: 'oslo' }],
        preData: stored,
        data: { ...stored, title: 'New' },
      },
    ]);
    expect(Object.keys(events[0]?.data as object).toSorted()).toEqual([
      'constraints',
      'disabled',
      'id',
      'name',
      'parameters',
      'segments',
      'sortOrder',
      'title',
      'variants',
    ]);
  });

  it('changes no other strategy or environment', () => {
    const other = aStrategy({ id: 'other', sortOrder: 1 });
    const environments = {
      development: { enabled: true, strategies: [other, stored], variants: [] },
      production: { enabled: true, strategies: [aStrategy({ id: 'third' })], variants: [] },
    };
    const feature = aFeature({ environments });
    const { feature: after } = patchStrategy(
      feature,
      at,
      [{ op: 'replace', path: '/disabled', value: true }],
      projectContext,
    );
    expect(after.environments['production']).toBe(environments.production);
    expect(after.environments['development']?.strategies).toEqual([other, { ...stored, disabled: true }]);
    expect(environments.development.strategies[1]).toBe(stored);
  });

  const disable: JsonPatch = [{ op: 'replace', path: '/disabled', value: true }];

  it('turns the feature off with its last active strategy, after the update', () => {
    const strategies = [stored, aStrategy({ id: 'other', disabled: true })];
    const { feature, events } = patchStrategy(aFeature({ enabled: true, strategies }), at, disable, projectContext);
    expect(inEnvironment(feature, 'development').enabled).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
    expect(events[1]).toMatchObject({ environment: 'development', featureName: 'checkout', project: 'shop' });
    expect(events[1]).not.toHaveProperty('data');
  });

  it('leaves the feature on with another active strategy', () => {
    const strategies = [stored, aStrategy({ id: 'other' })];
    const { feature, events } = patchStrategy(aFeature({ enabled: true, strategies }), at, disable, projectContext);
    expect(inEnvironment(feature, 'development').enabled).toBe(true);
    expect(events).toHaveLength(1);
  });

  it('emits only the update for a feature that was off', () => {
    expect(decided(disable).events.map(({ type }) => type)).toEqual(['feature-strategy-update']);
  });
});

describe('a patch of a strategy is refused', () => {
  const variant = (about: object): unknown => [
    { name: 'a', weight: 0, weightType: 'variable', stickiness: 'default', ...about },
  ];

  it.each<[string, PatchOperation, string]>([
    ['an unknown member', { op: 'add', path: '/bogus', value: 1 }, '/bogus'],
    ['an unknown member of the whole', { op: 'replace', path: '', value: { name: 'default', bogus: 1 } }, '/bogus'],
    ['no name', { op: 'remove', path: '/name' }, '/name'],
    ['a name that is not text', { op: 'replace', path: '/name', value: 7 }, '/name'],
    ['an unknown type', { op: 'replace', path: '/name', value: 'mine' }, '/name'],
    ['a type named like a member of every object', { op: 'replace', path: '/name', value: '__proto__' }, '/name'],
    ['a title that is not text', { op: 'replace', path: '/title', value: 7 }, '/title'],
    ['disabled as text', { op: 'replace', path: '/disabled', value: 'true' }, '/disabled'],
    ['a place that is not a number', { op: 'replace', path: '/sortOrder', value: 'first' }, '/sortOrder'],
    ['a setting that is a number', { op: 'replace', path: '/parameters/rollout', value: 25 }, '/parameters/rollout'],
    ['a weight as text', { op: 'replace', path: '/variants/0/weight', value: '1000' }, '/variants/0/weight'],
    [
      'a payload that is a number',
      { op: 'add', path: '/variants/0/payload', value: { type: 'number', value: 1 } },
      '/variants/0/payload/value',
    ],
    [
      'a value of a constraint that is a number',
      { op: 'add', path: '/constraints/0/values/-', value: 7 },
      '/constraints/0/values/1',
    ],
    ['a setting that is null', { op: 'replace', path: '/parameters/rollout', value: null }, '/parameters/rollout'],
    ['settings that are a list', { op: 'replace', path: '/parameters', value: [] }, '/parameters'],
    [
      'an unknown operator',
      { op: 'replace', path: '/constraints/0/operator', value: 'MATCHES' },
      '/constraints/0/operator',
    ],
    ['a constraint with more', { op: 'add', path: '/constraints/0/more', value: 1 }, '/constraints/0/more'],
    [
      'a constraint without values',
      { op: 'replace', path: '/constraints/0/values', value: [] },
      '/constraints/0/values',
    ],
    ['a segment that is no number', { op: 'add', path: '/segments/-', value: 'x' }, '/segments/2'],
    ['a segment of another project', { op: 'add', path: '/segments/-', value: 21 }, '/segments/2'],
    ['six segments', { op: 'replace', path: '/segments', value: [1, 2, 3, 4, 5, 6] }, '/segments'],
    [
      'six segments, though some are the same',
      { op: 'replace', path: '/segments', value: [1, 1, 1, 1, 1, 1] },
      '/segments',
    ],
    [
      'a weight above 1000',
      { op: 'replace', path: '/variants', value: variant({ weight: 1001 }) },
      '/variants/0/weight',
    ],
    ['a weight below 0', { op: 'replace', path: '/variants', value: variant({ weight: -1 }) }, '/variants/0/weight'],
    [
      'a weight that is not whole',
      { op: 'replace', path: '/variants', value: variant({ weight: 1.5 }) },
      '/variants/0/weight',
    ],
    ['overrides', { op: 'replace', path: '/variants', value: variant({ overrides: [] }) }, '/variants/0/overrides'],
    ['only fixed variants', { op: 'replace', path: '/variants', value: variant({ weightType: 'fix' }) }, '/variants'],
    ['a missing path', { op: 'replace', path: '/variants/3/weight', value: 1 }, '/variants/3/weight'],
  ])('with %s', (_, operation, path) => {
    const refusal = refusalOf(() => patched(operation));
    expect(refusal.kind).toBe('ValidationError');
    expect(refusal.details[0]?.path).toBe(path);
    expect(refusal.message).toContain(path.slice(path.lastIndexOf('/') + 1));
  });

  it('with the messages of Unleash', () => {
    const withSegments = (value: number[]) => refusalOf(() => patched({ op: 'replace', path: '/segments', value }));
    expect(refusalOf(() => patched({ op: 'replace', path: '/name', value: 'mine' })).message).toContain(
      'Could not find strategy type with name mine',
    );
    expect(withSegments([9999])).toMatchObject({ kind: 'NotFoundError', message: 'No segment exists with ID "9999"' });
    expect(withSegments([21]).message).toContain('The segments theirs with id 21 does not belong to project "shop"');
    expect(withSegments([1, 2, 3, 4, 5, 6]).message).toContain('Strategies may not have more than 5 segments');
  });

  it('with a context field that does not exist', () => {
    const value = { contextName: 'planet', operator: 'IN', values: ['mars'] };
    expect(refusalOf(() => patched({ op: 'add', path: '/constraints/-', value }))).toMatchObject({
      kind: 'NotFoundError',
      message: 'Could not find Context field with name planet',
    });
  });

  it.each([
    ['an unknown id', { environment: 'development', strategyId: 'unknown' }],
    ['another environment', { environment: 'production', strategyId: id }],
    ['an unknown environment', { environment: 'moon', strategyId: id }],
    ['a name of every object as environment', { environment: '__proto__', strategyId: id }],
    ['a name of every object as environment', { environment: 'constructor', strategyId: id }],
  ])('as not found at %s', (_, elsewhere) => {
    const feature = aFeature({ strategies: [stored] });
    expect(refusalOf(() => patchStrategy(feature, elsewhere, [], projectContext))).toMatchObject({
      kind: 'NotFoundError',
      message: `Could not find strategy with id: ${elsewhere.strategyId}`,
    });
  });
});

describe('a strategy that refers to deleted objects', () => {
  const locked = {
    ...stored,
    name: 'gone',
    segments: [77],
    constraints: [{ contextName: 'gone', operator: 'IN' as const, values: ['1'] }],
  };

  it('can still be patched elsewhere', () => {
    const { feature } = decided([{ op: 'replace', path: '/title', value: 'New' }], locked);
    expect(strategyOf(feature, at)).toMatchObject({ title: 'New', segments: [77], constraints: locked.constraints });
  });

  it('cannot refer to a deleted object again', () => {
    const constraint = { contextName: 'gone', operator: 'IN', values: ['2'] };
    expect(refusalOf(() => decided([{ op: 'add', path: '/constraints/-', value: constraint }], locked)).kind).toBe(
      'NotFoundError',
    );
    expect(refusalOf(() => decided([{ op: 'add', path: '/segments/-', value: 78 }], locked)).kind).toBe(
      'NotFoundError',
    );
  });
});

describe('a new strategy', () => {
  const where = { environment: 'development', strategyId: 'new', projectContext, path: '/body' };
  const added = (create: StrategyProperties, strategies: Strategy[] = [], context = projectContext) =>
    addStrategy(aFeature({ strategies }), create, { ...where, projectContext: context });
  const strategyIn = ({ feature }: Decision) => strategyOf(feature, { environment: 'development', strategyId: 'new' });

  it('has defaults for omitted properties', () => {
    const decision = added({ name: 'default' });
    const expected = aStrategy({ id: 'new', name: 'default', sortOrder: 0 });
    expect(strategyIn(decision)).toEqual(expected);
    expect(decision.events).toEqual([
      {
        type: 'feature-strategy-add',
        project: 'shop',
        featureName: 'checkout',
        environment: 'development',
        tags: [],
        data: expected,
      },
    ]);
    expect(inEnvironment(decision.feature, 'development').enabled).toBe(false);
  });

  it('has the default for null', () => {
    expect(strategyIn(added({ name: 'default', title: null, disabled: null }))).toMatchObject({
      title: null,
      disabled: false,
    });
  });

  it('has the parameters of a gradual rollout', () => {
    const projectContext = someProjectContext({ defaultStickiness: 'userId' });
    expect(strategyIn(added({ name: 'flexibleRollout' }, [], projectContext)).parameters).toEqual({
      rollout: '100',
      stickiness: 'userId',
      groupId: 'checkout',
    });
    const parameters = { rollout: '5', stickiness: '', groupId: '' };
    expect(strategyIn(added({ name: 'flexibleRollout', parameters }, [], projectContext)).parameters).toEqual({
      rollout: '5',
      stickiness: 'userId',
      groupId: 'checkout',
    });
    expect(strategyIn(added({ name: 'remoteAddress', parameters: { IPs: '10.0.0.0/8' } })).parameters).toEqual({
      IPs: '10.0.0.0/8',
    });
  });

  it('comes after the others', () => {
    const strategies = [aStrategy({ id: 'a', sortOrder: 2 }), aStrategy({ id: 'b', sortOrder: 9 })];
    expect(strategyIn(added({ name: 'default' }, strategies)).sortOrder).toBe(10);
  });

  it('has the given sort order, after strategies with the same one', () => {
    const strategies = [aStrategy({ id: 'a', sortOrder: 2 }), aStrategy({ id: 'b', sortOrder: 9 })];
    const idsAt = (sortOrder: number) =>
      inEnvironment(added({ name: 'default', sortOrder }, strategies).feature, 'development').strategies.map(
        (strategy) => strategy.id,
      );
    expect(idsAt(2)).toEqual(['a', 'new', 'b']);
    expect(idsAt(-1)).toEqual(['new', 'a', 'b']);
  });

  it('can be patched after one with the largest sort order', () => {
    const { feature } = added({ name: 'default' }, [aStrategy({ id: 'a', sortOrder: 1_000_000_000 })]);
    const ref = { environment: 'development', strategyId: 'new' };
    expect(() =>
      patchStrategy(feature, ref, [{ op: 'replace', path: '/title', value: 'x' }], projectContext),
    ).not.toThrow();
  });

  it('is one of at most 30 in an environment', () => {
    const strategies = Array.from({ length: fixedResourceLimits.strategiesPerEnvironment }, (_, nth) =>
      aStrategy({ id: `s${nth}` }),
    );
    expect(() => added({ name: 'default' }, strategies.slice(1))).not.toThrow();
    expect(refusalOf(() => added({ name: 'default' }, strategies))).toMatchObject({
      kind: 'ExceedsLimitError',
      message: "Failed to create strategy. You can't create more than the established limit of 30.",
    });
  });

  const variants: StrategyVariant[] = [{ name: 'a b', weight: 0, weightType: 'variable', stickiness: 'default' }];
  it.each<[string, StrategyProperties, string, string]>([
    ['an unknown type', { name: 'mine' }, '/body/name', 'ValidationError'],
    [
      'a bad constraint',
      { name: 'default', constraints: [{ contextName: 'userId', operator: 'NUM_EQ', value: 'x' }] },
      '/body/constraints/0/value',
      'ValidationError',
    ],
    ['a bad variant', { name: 'default', variants }, '/body/variants/0/name', 'ValidationError'],
    ['a foreign segment', { name: 'default', segments: [1, 21] }, '/body/segments/1', 'ValidationError'],
  ])('is refused with %s', (_, create, path, kind) => {
    expect(refusalOf(() => added(create))).toMatchObject({ kind, details: [{ path }] });
  });

  it.each(['moon', '__proto__'])('is refused in an environment that the project does not have: %s', (environment) => {
    const refusal = refusalOf(() => addStrategy(aFeature(), { name: 'default' }, { ...where, environment }));
    expect(refusal.message).toContain('You have not added the current environment to the project');
  });

  it('is the first in an environment without settings of the feature', () => {
    const { feature } = addStrategy(aFeature(), { name: 'default' }, { ...where, environment: 'production' });
    expect(inEnvironment(feature, 'production')).toMatchObject({ enabled: false, strategies: [{ id: 'new' }] });
  });
});

describe('a strategy that is removed', () => {
  it('emits its previous state', () => {
    const strategies = [stored, aStrategy({ id: 'other' })];
    const { feature, events } = removeStrategy(aFeature({ enabled: true, strategies }), at);
    expect(inEnvironment(feature, 'development')).toMatchObject({ enabled: true, strategies: [{ id: 'other' }] });
    expect(events).toEqual([
      {
        type: 'feature-strategy-remove',
        project: 'shop',
        featureName: 'checkout',
        environment: 'development',
        tags: [],
        preData: stored,
      },
    ]);
  });

  it('turns the feature off when it was the last active one, and emits that first', () => {
    const strategies = [stored, aStrategy({ id: 'other', disabled: true })];
    const { feature, events } = removeStrategy(aFeature({ enabled: true, strategies }), at);
    expect(inEnvironment(feature, 'development').enabled).toBe(false);
    expect(events.map(({ type }) => type)).toEqual(['feature-environment-disabled', 'feature-strategy-remove']);
  });

  it('must exist', () => {
    expect(refusalOf(() => removeStrategy(aFeature(), at)).kind).toBe('NotFoundError');
  });
});

describe('replacing a strategy', () => {
  const at = { environment: 'development', strategyId: 'one' };
  const variants = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' } as const];
  const before = aStrategy({
    id: 'one',
    name: 'flexibleRollout',
    title: 'Half',
    sortOrder: 3,
    segments: [1],
    variants,
    parameters: { rollout: '50', stickiness: 'userId', groupId: 'mine' },
  });
  const feature = aFeature({ strategies: [before], enabled: true });
  const updated = (update: UpdateStrategyBody) =>
    strategyOf(updateStrategy(feature, at, update, someProjectContext()).feature, at);

  it('an update empties omitted lists and keeps other omitted properties', () => {
    expect(updated({})).toEqual({ ...before, variants: [] });
    expect(updated({ title: 'All', disabled: true })).toMatchObject({ title: 'All', disabled: true, segments: [1] });
  });

  it('an update treats null as omitted, and ignores the sort order', () => {
    expect(updated({ title: null, disabled: null, sortOrder: 0, variants })).toEqual(before);
  });

  describe('an update keeps the parameters that it leaves out', () => {
    it.each([
      ['one parameter', { rollout: '70' }, { rollout: '70' }],
      ['another parameter', { stickiness: 'sessionId' }, { stickiness: 'sessionId' }],
      ['no parameter', {}, {}],
      ['empty texts, which are no values', { stickiness: '', groupId: '' }, {}],
      ['a parameter that the strategy does not have', { more: '1' }, { more: '1' }],
    ])('with %s', (_, parameters, changed) => {
      expect(updated({ parameters }).parameters).toEqual({ ...before.parameters, ...changed });
    });

    it('of any strategy type', () => {
      const custom = aStrategy({ id: 'one', name: 'custom', parameters: { a: '1', b: '2' } });
      const context = someProjectContext({ strategyTypes: new Set(['custom']) });
      const { feature: after } = updateStrategy(
        aFeature({ strategies: [custom] }),
        at,
        { parameters: { a: '3' } },
        context,
      );
      expect(strategyOf(after, at).parameters).toEqual({ a: '3', b: '2' });
    });

    it('unless the type of the strategy changes', () => {
      expect(updated({ name: 'default' })).toMatchObject({ name: 'default', parameters: before.parameters });
      expect(updated({ name: 'remoteAddress', parameters: { IPs: '::1' } }).parameters).toEqual({ IPs: '::1' });
    });
  });

  it('an update of the last active strategy emits that the feature is off', () => {
    const { events } = updateStrategy(feature, at, { disabled: true }, someProjectContext());
    expect(events.map(({ type }) => type)).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
    expect(updateStrategy(feature, at, { variants }, someProjectContext()).events).toEqual([]);
  });
});

describe('reordering strategies', () => {
  const strategies = ['one', 'two', 'three'].map((id, sortOrder) => aStrategy({ id, sortOrder }));
  const feature = aFeature({ strategies });
  const reordered = (positions: readonly { id: string; sortOrder: number }[], environment = 'development') =>
    reorderStrategies(feature, environment, positions, { projectContext: someProjectContext(), path: '/body' });

  describe('a new order of strategies', () => {
    it('leaves strategies that it does not name where they are', () => {
      expect(reordered([{ id: 'one', sortOrder: 5 }]).events).toMatchObject([
        {
          type: 'strategy-order-changed',
          environment: 'development',
          preData: { strategyIds: ['one', 'two', 'three'] },
          data: { strategyIds: ['two', 'three', 'one'] },
        },
      ]);
    });

    it('emits nothing if it is the order that they have', () => {
      expect(reordered([{ id: 'three', sortOrder: 2 }])).toEqual({ feature, events: [] });
    });

    it.each([
      ['a strategy that the feature does not have there', [{ id: 'four', sortOrder: 0 }], '/body/0/id'],
      ['two sort orders of one strategy', ['one', 'one'].map((id, sortOrder) => ({ id, sortOrder })), '/body/1/id'],
    ])('is refused for %s', (_, positions, path) => {
      expect(refusalOf(() => reordered(positions)).details).toMatchObject([{ path }]);
    });

    it('is refused in an environment that the project does not have', () => {
      expect(refusalOf(() => reordered([], 'staging'))).toMatchObject({
        kind: 'NotFoundError',
        message: 'Feature checkout does not have environment staging',
      });
    });
  });
});

describe('unchanged content', () => {
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
    const field = {
      name: 'plan',
      description: null,
      stickiness: false,
      sortOrder: 1,
      legalValues: [{ value: 'free' }],
    };
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
});
