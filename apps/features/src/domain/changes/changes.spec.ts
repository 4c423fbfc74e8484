import type { Change, CheckedChange } from '@bunting/contracts';
import { parseChanges } from '@bunting/contracts/validation';
import { describe, expect, it } from '@jest/globals';
import { aFeature, aSegment, aStrategy, type FeatureAbout, someProjectContext } from '../../../test/builders.ts';
import { refusalOf } from '../../../test/refusal-of.ts';
import { normalizeDependency } from '../features/dependency.ts';
import type { Feature } from '../features/feature.ts';
import { limits } from '../project-context.ts';
import { checkChanges, featureRules, type ChangeContext } from './index.ts';

const s1 = aStrategy({
  id: 's1',
  name: 'flexibleRollout',
  title: 'Half',
  parameters: { rollout: '50', stickiness: 'userId', groupId: 'checkout' },
  constraints: [{ contextName: 'userId', operator: 'IN', values: ['1'], inverted: false, caseInsensitive: false }],
  segments: [4, 2],
});
const s2 = aStrategy({ id: 's2', sortOrder: 1 });
const off = aStrategy({ id: 's3', disabled: true, sortOrder: 2 });
const beta = aSegment({ id: 4, project: 'shop' });
const global = aSegment({ id: 2, name: 'everywhere' });
const foreign = aSegment({ id: 5, name: 'theirs', project: 'garage' });

const inProduction = (about: FeatureAbout = {}): Feature => {
  const { strategies = [s1, s2], enabled = false, ...rest } = about;
  return aFeature({ environments: { production: { enabled, strategies, variants: [] } }, ...rest });
};

const aSituation = (
  features: readonly Feature[] = [inProduction()],
  about: Partial<ChangeContext> = {},
): ChangeContext => {
  const segments = [beta, global, foreign];
  let made = 0;
  return {
    project: 'shop',
    environment: 'production',
    projectContext: someProjectContext({ segments: new Map(segments.map((segment) => [segment.id, segment])) }),
    now: '2026-11-21T10:00:00.000Z',
    newStrategyId: () => `made-${++made}`,
    features: new Map(features.map((feature) => [feature.name, feature])),
    children: new Map(),
    segments: new Map(segments.map((segment) => [segment.id, segment])),
    segmentUsers: new Map(),
    segmentsByName: new Map(),
    ...about,
  };
};

type Posted = { readonly action: string; readonly feature?: string; readonly payload?: unknown };
const onCheckout = (action: string, payload?: unknown, feature = 'checkout'): Posted => ({ action, feature, payload });
const checked = (changes: Posted[], context: ChangeContext = aSituation(), earlier: Posted[] = []): CheckedChange[] =>
  checkChanges(parseChanges(changes), earlier.length === 0 ? [] : parseChanges(earlier), context);
const one = (change: Posted, context?: ChangeContext, earlier?: Posted[]): CheckedChange =>
  checked([change], context, earlier)[0] as CheckedChange;
const faultOf = (change: Posted, context?: ChangeContext, earlier?: Posted[]) => {
  const { kind, message, details } = refusalOf(() => one(change, context, earlier));
  return { kind, message, path: details[0]?.path };
};

const strategy = { name: 'default', constraints: [], parameters: {} };

describe('a proposed change', () => {
  it('is returned as it would be stored, with the values that it would replace', () => {
    expect(one(onCheckout('updateEnabled', { enabled: true, more: 1 }))).toEqual({
      action: 'updateEnabled',
      feature: 'checkout',
      segment: null,
      payload: { enabled: true },
      snapshot: { enabled: false },
    });
  });

  it.each<[string, Posted, unknown, unknown]>([
    [
      'addStrategy',
      onCheckout('addStrategy', { ...strategy, name: 'flexibleRollout', segments: [4, 4] }),
      {
        name: 'flexibleRollout',
        title: null,
        disabled: false,
        constraints: [],
        parameters: { rollout: '100', stickiness: 'default', groupId: 'checkout' },
        variants: [],
        segments: [4],
      },
      null,
    ],
    [
      'addStrategy at a place',
      onCheckout('addStrategy', { ...strategy, sortOrder: 7 }),
      {
        name: 'default',
        title: null,
        disabled: false,
        constraints: [],
        parameters: {},
        variants: [],
        segments: [],
        sortOrder: 7,
      },
      null,
    ],
    [
      'updateStrategy',
      onCheckout('updateStrategy', { id: 's1', title: 'All' }),
      { id: 's1', title: 'All' },
      { ...s1, segments: [2, 4] },
    ],
    [
      'updateStrategy with variants',
      onCheckout('updateStrategy', {
        id: 's2',
        variants: [{ name: 'a', weight: 0, weightType: 'variable', stickiness: 'default' }],
      }),
      {
        id: 's2',
        variants: [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }],
      },
      s2,
    ],
    [
      'updateStrategy that blanks',
      onCheckout('updateStrategy', { id: 's1', title: null, constraints: [], segments: [] }),
      { id: 's1', title: null, constraints: [], segments: [] },
      { ...s1, segments: [2, 4] },
    ],
    [
      'updateStrategy without a rollout',
      onCheckout('updateStrategy', { id: 's1', parameters: { groupId: 'g' } }),
      { id: 's1', parameters: { rollout: '50', stickiness: 'default', groupId: 'g' } },
      { ...s1, segments: [2, 4] },
    ],
    ['updateStrategy of a place', onCheckout('updateStrategy', { id: 's2', sortOrder: 9 }), { id: 's2' }, s2],
    ['deleteStrategy', onCheckout('deleteStrategy', { id: 's2', more: 1 }), { id: 's2' }, s2],
    [
      'reorderStrategy',
      onCheckout('reorderStrategy', [{ id: 's2', sortOrder: -1, more: 1 }]),
      [{ id: 's2', sortOrder: -1 }],
      [
        { id: 's1', sortOrder: 0 },
        { id: 's2', sortOrder: 1 },
      ],
    ],
    [
      'patchVariant',
      onCheckout('patchVariant', {
        variants: [
          { name: 'b', weight: 0 },
          { name: 'a', weight: 0 },
        ],
      }),
      {
        variants: ['a', 'b'].map((name) => ({ name, weight: 500, weightType: 'variable', stickiness: 'default' })),
      },
      { variants: [] },
    ],
    [
      'updateEnabled',
      onCheckout('updateEnabled', { enabled: false, shouldActivateDisabledStrategies: false }),
      { enabled: false, shouldActivateDisabledStrategies: false },
      { enabled: false },
    ],
    ['archiveFeature', onCheckout('archiveFeature'), {}, null],
    ['deleteDependency', onCheckout('deleteDependency'), {}, null],
    [
      'updateSegment',
      {
        action: 'updateSegment',
        payload: { id: 4, name: 'brave', constraints: [{ contextName: 'x', operator: 'NUM_EQ', value: '1' }] },
      },
      {
        id: 4,
        name: 'brave',
        constraints: [
          { contextName: 'x', operator: 'NUM_EQ', values: [], value: '1', inverted: false, caseInsensitive: false },
        ],
      },
      { id: 4, name: 'beta', description: null, project: 'shop', constraints: [] },
    ],
    [
      'deleteSegment',
      { action: 'deleteSegment', payload: { id: 4 } },
      { id: 4 },
      { id: 4, name: 'beta', description: null, project: 'shop', constraints: [] },
    ],
  ])('%s has a payload in its normal form and a snapshot', (_, change, payload, snapshot) => {
    const context = aSituation([
      inProduction({
        strategies: [s1, s2].map((value) => (change.action === 'deleteSegment' ? { ...value, segments: [] } : value)),
      }),
    ]);
    const result = one(change, context);
    expect({ payload: result.payload, snapshot: result.snapshot }).toEqual({ payload, snapshot });
    expect(one({ ...change, payload: result.payload }, context).payload).toEqual(payload);
  });

  it('of a dependency contains the previous dependency', () => {
    const parent = aFeature({ name: 'parent' });
    const child = inProduction({ dependencies: [normalizeDependency('old')] });
    const context = aSituation([child, parent]);
    expect(
      one(onCheckout('addDependency', { feature: 'parent', enabled: false, variants: ['a'] }), context),
    ).toMatchObject({
      payload: { feature: 'parent', enabled: false, variants: [] },
      snapshot: { dependencies: [normalizeDependency('old')] },
    });
    expect(one(onCheckout('deleteDependency'), context).snapshot).toEqual({
      dependencies: [normalizeDependency('old')],
    });
    expect(
      one(onCheckout('addDependency', { feature: 'parent' }), aSituation([inProduction(), parent])).snapshot,
    ).toBeNull();
  });

  it('of a segment contains its current name', () => {
    const rename = { action: 'updateSegment', payload: { id: 4, name: 'brave' } };
    expect(one(rename)).toMatchObject({ feature: null, segment: { id: 4, name: 'beta' } });
    expect(one({ ...rename, payload: { id: 4, name: 'bold' } }, aSituation(), [rename])).toMatchObject({
      segment: { id: 4, name: 'beta' },
    });
  });

  it('keeps its order among the others', () => {
    const changes = [
      onCheckout('archiveFeature'),
      { action: 'updateSegment', payload: { id: 4, name: 'brave' } },
      onCheckout('updateEnabled', { enabled: true }),
      onCheckout('addStrategy', strategy),
    ];
    expect(checked(changes).map(({ action }) => action)).toEqual(changes.map(({ action }) => action));
  });
});

describe('a proposed change is refused', () => {
  it.each<[string, Posted, string, string | undefined]>([
    ['an unknown feature', onCheckout('archiveFeature', undefined, 'nothing'), 'NotFoundError', undefined],
    [
      'a feature named like a member of every object',
      onCheckout('archiveFeature', undefined, 'constructor'),
      'NotFoundError',
      undefined,
    ],
    ['an unknown strategy to update', onCheckout('updateStrategy', { id: 'x' }), 'NotFoundError', undefined],
    ['an unknown strategy to delete', onCheckout('deleteStrategy', { id: 'x' }), 'NotFoundError', undefined],
    [
      'an unknown strategy to move',
      onCheckout('reorderStrategy', [
        { id: 's1', sortOrder: 1 },
        { id: 'x', sortOrder: 0 },
      ]),
      'ValidationError',
      '/body/0/payload/1/id',
    ],
    [
      'a strategy at two places',
      onCheckout('reorderStrategy', [
        { id: 's1', sortOrder: 1 },
        { id: 's1', sortOrder: 0 },
      ]),
      'ValidationError',
      '/body/0/payload/1/id',
    ],
    [
      'an unknown type',
      onCheckout('addStrategy', { ...strategy, name: 'mine' }),
      'ValidationError',
      '/body/0/payload/name',
    ],
    [
      'a bad constraint',
      onCheckout('addStrategy', { ...strategy, constraints: [{ contextName: 'userId', operator: 'IN' }] }),
      'ValidationError',
      '/body/0/payload/constraints/0/values',
    ],
    [
      'a segment of another project',
      onCheckout('updateStrategy', { id: 's2', segments: [5] }),
      'ValidationError',
      '/body/0/payload/segments/0',
    ],
    ['an unknown segment', onCheckout('updateStrategy', { id: 's2', segments: [99] }), 'NotFoundError', undefined],
    [
      'another type without settings',
      onCheckout('updateStrategy', { id: 's1', name: 'default' }),
      'ValidationError',
      '/body/0/payload/parameters',
    ],
    [
      'only fixed variants',
      onCheckout('patchVariant', { variants: [{ name: 'a', weight: 1000, weightType: 'fix' }] }),
      'ValidationError',
      '/body/0/payload/variants',
    ],
    [
      'a dependency on itself',
      onCheckout('addDependency', { feature: 'checkout' }),
      'ValidationError',
      '/body/0/payload/feature',
    ],
    [
      'a dependency on nothing',
      onCheckout('addDependency', { feature: 'nothing' }),
      'ValidationError',
      '/body/0/payload/feature',
    ],
    ['an unknown segment to change', { action: 'updateSegment', payload: { id: 99 } }, 'NotFoundError', undefined],
    [
      'a segment of another project to change',
      { action: 'deleteSegment', payload: { id: 5 } },
      'NotFoundError',
      undefined,
    ],
    [
      'a segment for every project',
      { action: 'updateSegment', payload: { id: 2, name: 'mine' } },
      'ValidationError',
      '/body/0/payload/id',
    ],
    [
      'a bad constraint of a segment',
      {
        action: 'updateSegment',
        payload: { id: 4, constraints: [{ contextName: 'x', operator: 'DATE_AFTER', value: 'soon' }] },
      },
      'ValidationError',
      '/body/0/payload/constraints/0/value',
    ],
    [
      'a segment that goes to another project',
      { action: 'updateSegment', payload: { id: 4, project: 'garage' } },
      'ValidationError',
      '/body/0/payload/project',
    ],
    [
      'a segment with a blank name',
      { action: 'updateSegment', payload: { id: 4, name: ' ' } },
      'ValidationError',
      '/body/0/payload/name',
    ],
  ])('with %s', (_, change, kind, path) => {
    const fault = faultOf(change);
    expect(fault).toMatchObject({ kind, path });
    if (path !== undefined) expect(fault.message).toContain(`\`${path}\``);
  });

  it('for a feature of another project, which is not disclosed', () => {
    const context = aSituation([inProduction({ project: 'garage' })]);
    expect(faultOf(onCheckout('updateEnabled', { enabled: true }), context)).toMatchObject({
      kind: 'NotFoundError',
      message: 'There\'s no feature named "checkout" in project "shop".',
    });
  });

  it.each(Object.keys(featureRules))('for a feature in the archive: %s', (action) => {
    const context = aSituation([inProduction({ archivedAt: '2026-01-01T00:00:00.000Z' })]);
    const payloads: Record<string, unknown> = {
      updateEnabled: { enabled: false },
      addStrategy: strategy,
      updateStrategy: { id: 's1' },
      deleteStrategy: { id: 's1' },
      patchVariant: { variants: [] },
      reorderStrategy: [],
      addDependency: { feature: 'x' },
    };
    expect(faultOf(onCheckout(action, payloads[action]), context)).toMatchObject({
      kind: 'ArchivedFeatureError',
      path: '/body/0/feature',
    });
  });

  it('in an environment that the project does not have', () => {
    expect(faultOf(onCheckout('archiveFeature'), aSituation(undefined, { environment: 'moon' })).kind).toBe(
      'NotFoundError',
    );
  });

  it('for a strategy of another environment', () => {
    const context = aSituation([aFeature({ strategies: [s1] })]);
    for (const action of ['updateStrategy', 'deleteStrategy']) {
      expect(faultOf(onCheckout(action, { id: 's1' }), context).kind).toBe('NotFoundError');
    }
  });

  it('when a feature would have more than 30 strategies with the earlier ones', () => {
    const earlier = Array.from({ length: limits.strategiesPerEnvironment - 2 }, () =>
      onCheckout('addStrategy', strategy),
    );
    expect(() => one(onCheckout('addStrategy', strategy), aSituation(), earlier.slice(1))).not.toThrow();
    expect(faultOf(onCheckout('addStrategy', strategy), aSituation(), earlier).kind).toBe('ExceedsLimitError');
    expect(() =>
      one(onCheckout('addStrategy', strategy), aSituation(), [...earlier, onCheckout('deleteStrategy', { id: 's1' })]),
    ).not.toThrow();
  });

  it('at the first invalid change, which is named', () => {
    const changes = [onCheckout('addStrategy', strategy), onCheckout('addStrategy', { ...strategy, name: 'mine' })];
    expect(refusalOf(() => checked(changes)).details[0]?.path).toBe('/body/1/payload/name');
  });
});

describe('changes of one request are checked together', () => {
  const child = aFeature({ name: 'child', dependencies: [normalizeDependency('checkout')] });
  const family = aSituation([inProduction(), child], { children: new Map([['checkout', ['child']]]) });

  it('a parent can be archived with its children, in whichever order', () => {
    const archive = [onCheckout('archiveFeature'), onCheckout('archiveFeature', undefined, 'child')];
    expect(checked(archive, family)).toHaveLength(2);
    expect(checked(archive.toReversed(), family)).toHaveLength(2);
    expect(one(archive[0] as Posted, family, [archive[1] as Posted])).toBeDefined();
    expect(one(archive[0] as Posted, family, [onCheckout('deleteDependency', undefined, 'child')])).toBeDefined();
    expect(faultOf(archive[0] as Posted, family)).toMatchObject({ kind: 'ValidationError', path: '/body/0/feature' });
  });

  it('a parent cannot be archived while a child is not part of the request', () => {
    const context = aSituation([inProduction()], { children: new Map([['checkout', ['unknown']]]) });
    expect(faultOf(onCheckout('archiveFeature'), context).message).toContain('since other features depend on it');
  });

  it('a parent cannot get a parent', () => {
    const context = aSituation([inProduction(), aFeature({ name: 'b' }), aFeature({ name: 'c' })]);
    const depend = (on: string, feature: string) => onCheckout('addDependency', { feature: on }, feature);
    expect(checked([depend('b', 'checkout'), depend('b', 'c')], context)).toHaveLength(2);
    expect(faultOf(depend('c', 'b'), context, [depend('b', 'checkout')]).message).toContain(
      'Transitive dependency detected',
    );
    expect(faultOf(depend('checkout', 'c'), context, [depend('b', 'checkout')]).message).toContain(
      'Transitive dependency detected',
    );
    expect(
      checked(
        [depend('c', 'b'), onCheckout('deleteDependency', undefined, 'checkout')],
        aSituation(
          [
            inProduction({ dependencies: [normalizeDependency('b')] }),
            aFeature({ name: 'b' }),
            aFeature({ name: 'c' }),
          ],
          { children: new Map([['b', ['checkout']]]) },
        ),
      ),
    ).toHaveLength(2);
  });

  it('a strategy that the request deletes can be deleted again, but not moved', () => {
    const earlier = [onCheckout('deleteStrategy', { id: 's1' })];
    expect(one(onCheckout('deleteStrategy', { id: 's1' }), aSituation(), earlier).snapshot).toMatchObject({ id: 's1' });
    expect(faultOf(onCheckout('reorderStrategy', [{ id: 's1', sortOrder: 4 }]), aSituation(), earlier).path).toBe(
      '/body/0/payload/0/id',
    );
    expect(faultOf(onCheckout('updateStrategy', { id: 's1', title: 'x' }), aSituation(), earlier).kind).toBe(
      'NotFoundError',
    );
  });

  it('a change replaces the stored state, not that of earlier changes in the request', () => {
    const earlier = [onCheckout('updateStrategy', { id: 's1', title: 'Other', disabled: true })];
    expect(one(onCheckout('updateStrategy', { id: 's1', title: 'x' }), aSituation(), earlier).snapshot).toMatchObject({
      title: 'Half',
      disabled: false,
    });
  });

  it('a feature that the request archives can still be changed', () => {
    expect(
      one(onCheckout('updateEnabled', { enabled: true }), aSituation(), [onCheckout('archiveFeature')]),
    ).toBeDefined();
    expect(one(onCheckout('archiveFeature'), aSituation(), [onCheckout('archiveFeature')])).toBeDefined();
  });

  it('a segment can be deleted once no strategy uses it', () => {
    const remove = { action: 'deleteSegment', payload: { id: 4 } };
    const context = aSituation(undefined, { segmentUsers: new Map([[4, [{ name: 'checkout', project: 'shop' }]]]) });
    const release = onCheckout('updateStrategy', { id: 's1', segments: [] });
    expect(faultOf(remove, context)).toMatchObject({ kind: 'ValidationError', path: '/body/0/payload/id' });
    expect(faultOf(remove, context).message).toContain('Segment beta is in use by checkout');
    expect(one(remove, context, [release])).toBeDefined();
    expect(checked([remove, release], context)).toHaveLength(2);
    expect(checked([remove, onCheckout('archiveFeature')], context)).toHaveLength(2);
    const others = aSituation(undefined, { segmentUsers: new Map([[4, [{ name: 'other', project: 'shop' }]]]) });
    expect(faultOf(remove, others, [release]).message).toContain('in use by other');
    expect(one(remove, context, [release, remove])).toBeDefined();
  });

  it('a name of a segment can be used once', () => {
    const rename = (id: number, name: string) => ({ action: 'updateSegment', payload: { id, name } });
    const gamma = aSegment({ id: 6, name: 'gamma', project: 'shop' });
    const context = aSituation(undefined, {
      segments: new Map([
        [4, beta],
        [6, gamma],
      ]),
      segmentsByName: new Map([
        ['taken', 9],
        ['beta', 4],
        ['gamma', 6],
      ]),
    });
    expect(faultOf(rename(4, 'taken'), context)).toMatchObject({
      kind: 'ValidationError',
      path: '/body/0/payload/name',
    });
    expect(faultOf(rename(4, 'gamma'), context).message).toContain('Segment name already exists');
    expect(faultOf(rename(4, 'new'), context, [rename(6, 'new')]).message).toContain('Segment name already exists');
    expect(one(rename(4, 'gamma'), context, [rename(6, 'delta')])).toBeDefined();
    expect(one(rename(4, 'beta'), context)).toBeDefined();
  });

  it('an earlier change with a conflict does not invalidate a new one', () => {
    const earlier = [
      onCheckout('updateStrategy', { id: 'gone', title: 'x' }),
      onCheckout('archiveFeature', undefined, 'gone'),
      { action: 'deleteSegment', payload: { id: 99 } },
    ];
    expect(one(onCheckout('updateEnabled', { enabled: true }), aSituation(), earlier)).toBeDefined();
  });

  it('the input is not modified', () => {
    const context = aSituation();
    const copy = structuredClone({
      features: context.features,
      segments: context.segments,
      references: context.projectContext.segments,
    });
    checked(
      [
        onCheckout('archiveFeature'),
        onCheckout('addStrategy', strategy),
        { action: 'updateSegment', payload: { id: 4, name: 'brave' } },
      ],
      context,
    );
    expect({
      features: context.features,
      segments: context.segments,
      references: context.projectContext.segments,
    }).toEqual(copy);
  });

  it('hundreds of changes are checked on top of hundreds', () => {
    const features = Array.from({ length: 500 }, (_, nth) => inProduction({ name: `f${nth}`, strategies: [] }));
    const changes = features.flatMap(({ name }) => [
      onCheckout('addStrategy', strategy, name),
      onCheckout('archiveFeature', undefined, name),
    ]);
    expect(checked(changes.slice(0, 200), aSituation(features), changes.slice(200, 400))).toHaveLength(200);
  });
});

describe('a change that is applied', () => {
  const applied = (change: Posted, about: FeatureAbout): [boolean, string[], string[]] => {
    const [parsed] = parseChanges([change]) as [Change];
    const feature = inProduction(about);
    const context = aSituation([feature]);
    const rule = featureRules[parsed.action as 'updateEnabled'];
    const { subject, events } = rule.decide(feature, parsed as Parameters<typeof rule.decide>[1], context, '');
    const production = subject.environments['production'];
    return [
      production?.enabled ?? false,
      (production?.strategies ?? []).map(({ id, disabled }) => (disabled ? `${id} (disabled)` : id)),
      events.map(({ type }) => type.replace('feature-', '')),
    ];
  };
  const enable = (shouldActivateDisabledStrategies?: boolean) =>
    onCheckout('updateEnabled', { enabled: true, shouldActivateDisabledStrategies });

  it.each<[string, Posted, FeatureAbout, ReturnType<typeof applied>]>([
    [
      'turns on with the default strategy',
      enable(),
      { strategies: [] },
      [true, ['made-1'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'activates all when all are disabled',
      enable(true),
      { strategies: [off, { ...off, id: 's4' }] },
      [true, ['s3', 's4'], ['strategy-update', 'strategy-update', 'environment-enabled']],
    ],
    [
      'adds the default strategy when all are disabled',
      enable(false),
      { strategies: [off] },
      [true, ['s3 (disabled)', 'made-1'], ['strategy-add', 'environment-enabled']],
    ],
    [
      'does not activate where one is active',
      enable(true),
      { strategies: [s1, off] },
      [true, ['s1', 's3 (disabled)'], ['environment-enabled']],
    ],
    [
      'turns off',
      onCheckout('updateEnabled', { enabled: false }),
      { enabled: true },
      [false, ['s1', 's2'], ['environment-disabled']],
    ],
    [
      'says nothing when it is off already',
      onCheckout('updateEnabled', { enabled: false }),
      {},
      [false, ['s1', 's2'], []],
    ],
    [
      'removes the only strategy, and leaves the switch to the end',
      onCheckout('deleteStrategy', { id: 's1' }),
      { strategies: [s1], enabled: true },
      [true, [], ['strategy-remove']],
    ],
    ['removes nothing where nothing is', onCheckout('deleteStrategy', { id: 'x' }), {}, [false, ['s1', 's2'], []]],
    [
      'disables the only strategy, and leaves the switch to the end',
      onCheckout('updateStrategy', { id: 's1', disabled: true }),
      { strategies: [s1], enabled: true },
      [true, ['s1 (disabled)'], ['strategy-update']],
    ],
    [
      'moves strategies',
      onCheckout('reorderStrategy', [{ id: 's2', sortOrder: -1 }]),
      {},
      [false, ['s2', 's1'], ['strategy-order-changed']],
    ],
    [
      'moves nothing to where it is',
      onCheckout('reorderStrategy', [{ id: 's2', sortOrder: 1 }]),
      {},
      [false, ['s1', 's2'], []],
    ],
  ])('%s', (_, change, about, expected) => {
    expect(applied(change, about)).toEqual(expected);
  });

  it('keeps omitted properties of a strategy', () => {
    const [change] = parseChanges([onCheckout('updateStrategy', { id: 's1', title: 'All', disabled: null })]) as [
      Change,
    ];
    const feature = inProduction();
    const { subject } = featureRules.updateStrategy.decide(
      feature,
      change as Parameters<typeof featureRules.updateStrategy.decide>[1],
      aSituation([feature]),
      '',
    );
    expect(subject.environments['production']?.strategies[0]).toEqual({ ...s1, title: 'All' });
  });
});
