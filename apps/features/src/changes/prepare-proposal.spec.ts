import { describe, expect, it } from 'vitest';
import { aFeature, aSegment, refusalOf } from '../../test/builders.ts';
import {
  aChangeContext,
  checkedChange,
  checkedChanges,
  defaultStrategy,
  faultOf,
  inProduction,
  onCheckout,
  rolloutStrategy,
  strategyBody,
  type Posted,
} from '../../test/checked-changes.ts';
import { normalizeDependency } from '../dependencies/dependency.ts';
import { fixedResourceLimits } from '../names.ts';
import { featureActionHandlers } from './action-handlers.ts';

describe('a proposed change', () => {
  it('is returned as it would be stored, with the values that it would replace', () => {
    expect(checkedChange(onCheckout('updateEnabled', { enabled: true, more: 1 }))).toEqual({
      action: 'updateEnabled',
      feature: 'checkout',
      segment: null,
      payload: { enabled: true },
      snapshot: { enabled: false },
      featureCreatedAt: '2026-01-01T00:00:00.000Z',
    });
  });

  it.each<[string, Posted, unknown, unknown]>([
    [
      'addStrategy',
      onCheckout('addStrategy', { ...strategyBody, name: 'flexibleRollout', segments: [4, 4] }),
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
      onCheckout('addStrategy', { ...strategyBody, sortOrder: 7 }),
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
      { ...rolloutStrategy, segments: [2, 4] },
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
      defaultStrategy,
    ],
    [
      'updateStrategy that blanks',
      onCheckout('updateStrategy', { id: 's1', title: '', disabled: null, constraints: [], segments: [] }),
      { id: 's1', title: '', constraints: [], segments: [] },
      { ...rolloutStrategy, segments: [2, 4] },
    ],
    [
      'updateStrategy of one parameter',
      onCheckout('updateStrategy', { id: 's1', parameters: { groupId: 'g' } }),
      { id: 's1', parameters: { groupId: 'g' } },
      { ...rolloutStrategy, segments: [2, 4] },
    ],
    [
      'updateStrategy of a place',
      onCheckout('updateStrategy', { id: 's2', sortOrder: 9 }),
      { id: 's2' },
      defaultStrategy,
    ],
    ['deleteStrategy', onCheckout('deleteStrategy', { id: 's2', more: 1 }), { id: 's2' }, defaultStrategy],
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
        payload: { id: 4, name: 'brave', constraints: [{ contextName: 'userId', operator: 'NUM_EQ', value: '1' }] },
      },
      {
        id: 4,
        name: 'brave',
        constraints: [
          {
            contextName: 'userId',
            operator: 'NUM_EQ',
            values: [],
            value: '1',
            inverted: false,
            caseInsensitive: false,
          },
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
    const context = aChangeContext([
      inProduction({
        strategies: [rolloutStrategy, defaultStrategy].map((value) =>
          change.action === 'deleteSegment' ? { ...value, segments: [] } : value,
        ),
      }),
    ]);
    const result = checkedChange(change, context);
    expect({ payload: result.payload, snapshot: result.snapshot }).toEqual({ payload, snapshot });
    expect(checkedChange({ ...change, payload: result.payload }, context).payload).toEqual(payload);
  });

  it('of a dependency contains the previous dependency', () => {
    const parent = aFeature({ name: 'parent' });
    const child = inProduction({ dependencies: [normalizeDependency('old')] });
    const context = aChangeContext([child, parent]);
    expect(
      checkedChange(onCheckout('addDependency', { feature: 'parent', enabled: false, variants: ['a'] }), context),
    ).toMatchObject({
      payload: { feature: 'parent', enabled: false, variants: [] },
      snapshot: { dependencies: [normalizeDependency('old')] },
    });
    expect(checkedChange(onCheckout('deleteDependency'), context).snapshot).toEqual({
      dependencies: [normalizeDependency('old')],
    });
    expect(
      checkedChange(onCheckout('addDependency', { feature: 'parent' }), aChangeContext([inProduction(), parent]))
        .snapshot,
    ).toBeNull();
  });

  it('of a segment contains its current name', () => {
    const rename = { action: 'updateSegment', payload: { id: 4, name: 'brave' } };
    expect(checkedChange(rename)).toMatchObject({ feature: null, segment: { id: 4, name: 'beta' } });
    expect(checkedChange({ ...rename, payload: { id: 4, name: 'bold' } }, aChangeContext(), [rename])).toMatchObject({
      segment: { id: 4, name: 'beta' },
    });
  });

  it('keeps its order among the others', () => {
    const changes = [
      onCheckout('archiveFeature'),
      { action: 'updateSegment', payload: { id: 4, name: 'brave' } },
      onCheckout('updateEnabled', { enabled: true }),
      onCheckout('addStrategy', strategyBody),
    ];
    expect(checkedChanges(changes).map(({ action }) => action)).toEqual(changes.map(({ action }) => action));
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
      onCheckout('addStrategy', { ...strategyBody, name: 'mine' }),
      'ValidationError',
      '/body/0/payload/name',
    ],
    [
      'a bad constraint',
      onCheckout('addStrategy', { ...strategyBody, constraints: [{ contextName: 'userId', operator: 'IN' }] }),
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
      'the list of a segment for every project',
      { action: 'updateSegmentList', payload: { id: 2, contextName: null, root: null } },
      'ValidationError',
      '/body/0/payload/id',
    ],
    [
      'a segment for every project that this one keeps for itself',
      { action: 'updateSegment', payload: { id: 2, project: 'shop' } },
      'ValidationError',
      '/body/0/payload/project',
    ],
    [
      'a bad constraint of a segment',
      {
        action: 'updateSegment',
        payload: { id: 4, constraints: [{ contextName: 'userId', operator: 'DATE_AFTER', value: 'soon' }] },
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
    const context = aChangeContext([inProduction({ project: 'garage' })]);
    expect(faultOf(onCheckout('updateEnabled', { enabled: true }), context)).toMatchObject({
      kind: 'NotFoundError',
      message: 'There\'s no feature named "checkout" in project "shop".',
    });
  });

  it.each(Object.keys(featureActionHandlers))('for a feature in the archive: %s', (action) => {
    const context = aChangeContext([inProduction({ archivedAt: '2026-01-01T00:00:00.000Z' })]);
    const payloads: Record<string, unknown> = {
      updateEnabled: { enabled: false },
      addStrategy: strategyBody,
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
    expect(faultOf(onCheckout('archiveFeature'), aChangeContext(undefined, { environment: 'moon' })).kind).toBe(
      'NotFoundError',
    );
  });

  it('for a strategy of another environment', () => {
    const context = aChangeContext([aFeature({ strategies: [rolloutStrategy] })]);
    for (const action of ['updateStrategy', 'deleteStrategy']) {
      expect(faultOf(onCheckout(action, { id: 's1' }), context).kind).toBe('NotFoundError');
    }
  });

  it('when a feature would have more than 30 strategies with the earlier ones', () => {
    const earlier = Array.from({ length: fixedResourceLimits.strategiesPerEnvironment - 2 }, () =>
      onCheckout('addStrategy', strategyBody),
    );
    expect(() =>
      checkedChange(onCheckout('addStrategy', strategyBody), aChangeContext(), earlier.slice(1)),
    ).not.toThrow();
    expect(faultOf(onCheckout('addStrategy', strategyBody), aChangeContext(), earlier).kind).toBe('ExceedsLimitError');
    expect(() =>
      checkedChange(onCheckout('addStrategy', strategyBody), aChangeContext(), [
        ...earlier,
        onCheckout('deleteStrategy', { id: 's1' }),
      ]),
    ).not.toThrow();
  });

  it('at the first invalid change, which is named', () => {
    const changes = [
      onCheckout('addStrategy', strategyBody),
      onCheckout('addStrategy', { ...strategyBody, name: 'mine' }),
    ];
    expect(refusalOf(() => checkedChanges(changes)).details[0]?.path).toBe('/body/1/payload/name');
  });
});

it('a proposed strategy may be of a deprecated type, as one that is added directly', () => {
  const change = onCheckout('addStrategy', { name: 'userWithId', constraints: [], parameters: { userIds: '7' } });
  expect(checkedChange(change)).toMatchObject({ payload: { name: 'userWithId', parameters: { userIds: '7' } } });
});

describe('a proposed change of a segment for every project', () => {
  const constraints = [{ contextName: 'userId', operator: 'IN', values: ['7'] }];

  it.each<[string, Posted]>([
    ['edits it', { action: 'updateSegment', payload: { id: 2, name: 'all', constraints } }],
    [
      'sends that it has no project, as user interfaces do',
      { action: 'updateSegment', payload: { id: 2, project: null } },
    ],
    ['names it alone', { action: 'updateSegment', payload: { id: 2 } }],
    ['deletes it', { action: 'deleteSegment', payload: { id: 2 } }],
  ])('is accepted where it %s', (_, change) => {
    expect(checkedChange(change, aChangeContext([]))).toMatchObject({
      segment: { id: 2, name: 'everywhere' },
      payload: change.payload,
      snapshot: { name: 'everywhere', project: null },
    });
  });

  it('does not name the features of other projects that use the segment', () => {
    const segmentReferrers = new Map([
      [
        2,
        [
          { name: 'secret', project: 'garage' },
          { name: 'banner', project: 'shop' },
        ],
      ],
    ]);
    const context = aChangeContext([], { segmentReferrers });
    const { message } = refusalOf(() => checkedChange({ action: 'deleteSegment', payload: { id: 2 } }, context));
    expect(message).toContain('in use by banner and 1 other');
  });
});

describe('a proposed change that takes the place of another', () => {
  const alpha = aSegment({ id: 3, name: 'alpha', project: 'shop' });
  const beta = aSegment({ id: 4, name: 'beta', project: 'shop' });
  const context = aChangeContext([inProduction()], {
    segments: new Map([alpha, beta].map((segment) => [segment.id, segment])),
    segmentsByName: new Map([alpha, beta].map(({ id, name }) => [name, id])),
  });
  const rename = (id: number, name?: string): Posted => ({ action: 'updateSegment', payload: { id, name } });
  const takesName = [rename(4, 'gamma')];

  it('is checked in the order of application: the name is free only after a later change', () => {
    const earlier = [rename(3, 'temporary'), ...takesName];
    const change = rename(3, 'beta');
    expect(checkedChanges([change], context, earlier)).toHaveLength(1);
    expect(refusalOf(() => checkedChanges([change], context, earlier, [2, 1]))).toMatchObject({
      kind: 'ValidationError',
      details: [{ path: '/body/0/payload/name' }],
    });
  });

  it('is refused if it makes a change that is applied after it impossible', () => {
    const earlier = [rename(3, 'temporary'), rename(4, 'alpha')];
    const change = { action: 'updateSegment', payload: { id: 3, description: 'keeps its name' } };
    expect(refusalOf(() => checkedChanges([change], context, earlier, [2, 1]))).toMatchObject({
      kind: 'ValidationError',
      message: expect.stringContaining('makes another one of the change request impossible'),
      details: [{ path: '/body/0/payload/name' }],
    });
    expect(checkedChanges([rename(3, 'other')], context, earlier, [2, 1])).toHaveLength(1);
  });

  it('is accepted if the later change was impossible before', () => {
    const earlier = [rename(3, 'temporary'), { action: 'updateSegment', payload: { id: 99, name: 'gone' } }];
    expect(checkedChanges([rename(3, 'other')], context, earlier, [2, 1])).toHaveLength(1);
  });
});
