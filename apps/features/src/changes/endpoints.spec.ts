import {
  type AppliedChanges,
  ApplyChanges,
  type Change,
  CheckChanges,
  type Constraint,
  CreateProject,
  CreateSegment,
  PreviewChanges,
  SetProtection,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { useFeatures } from '../../test/started-features.ts';

describe('applying changes', () => {
  const service = useFeatures();
  beforeEach(async () => {
    await service.database.transaction(({ query }) =>
      query(
        'delete from feature; delete from deleted_feature; delete from segment; delete from applied_change_request',
      ),
    );
    await service.clearOutbox();
  });

  const kim = { id: 9, name: 'kim', grants: [] };
  const project = 'default';
  const environment = 'development';

  const bodyOf = (changes: readonly object[], more: object = {}) => ({
    changeRequestId: 31,
    attempt: 1,
    project,
    environment,
    changes: changes.map((change, nth) => ({ id: nth + 1, change: change as Change, snapshot: null })),
    refuseOverwrites: false,
    ...more,
  });
  const apply = (changes: readonly object[], more: object = {}): Promise<AppliedChanges> =>
    service.call(ApplyChanges, { body: bodyOf(changes, more) }, kim);
  const preview = async (changes: readonly object[], snapshots: readonly unknown[] = []) => {
    const requested = bodyOf(changes).changes.map((change, nth) => ({ ...change, snapshot: snapshots[nth] ?? null }));
    const requests = [{ environment, changes: requested }];
    const { previews } = await service.call(PreviewChanges, { body: { project, withStates: true, requests } });
    return previews[0]!;
  };

  const flag = (name: string, about: Parameters<typeof aFeature>[0] = {}) => aFeature({ name, project, ...about });
  const enable = (feature: string, more = {}) => ({
    action: 'updateEnabled',
    feature,
    payload: { enabled: true, ...more },
  });
  const addStrategy = (feature: string, rollout = '5') => ({
    action: 'addStrategy',
    feature,
    payload: { name: 'flexibleRollout', constraints: [], parameters: { rollout } },
  });
  const one = '8c0f4d2e-0000-4000-8000-00000000000a';
  const two = '8c0f4d2e-0000-4000-8000-00000000000b';
  const off = [aStrategy({ id: one, disabled: true }), aStrategy({ id: two, disabled: true, sortOrder: 1 })];
  const inDevelopment = async (name: string) =>
    (await service.get(name)).environments?.find((it) => it.name === environment);
  const types = async () => (await service.emittedEvents()).map(({ type }) => type);

  describe('applying a change request', () => {
    it.each([
      {
        rule: 'enabling a feature without strategies adds one',
        flagBefore: {},
        changes: [enable('x')],
        enabledAfter: true,
        strategiesAfter: 1,
        emitted: ['feature-strategy-add', 'feature-environment-enabled'],
      },
      {
        rule: 'enabling and adding a strategy adds no other one',
        flagBefore: {},
        changes: [enable('x'), addStrategy('x')],
        enabledAfter: true,
        strategiesAfter: 1,
        emitted: ['feature-strategy-add', 'feature-environment-enabled'],
      },
      {
        rule: 'enabling activates disabled strategies if the change demands it',
        flagBefore: { strategies: off },
        changes: [enable('x', { shouldActivateDisabledStrategies: true })],
        enabledAfter: true,
        strategiesAfter: 2,
        emitted: ['feature-strategy-update', 'feature-strategy-update', 'feature-environment-enabled'],
      },
      {
        rule: 'enabling leaves disabled strategies beside a new one otherwise',
        flagBefore: { strategies: off },
        changes: [enable('x', { shouldActivateDisabledStrategies: false })],
        enabledAfter: true,
        strategiesAfter: 3,
        emitted: ['feature-strategy-add', 'feature-environment-enabled'],
      },
      {
        rule: 'enabling leaves a disabled strategy beside an active one, even if the change demands activation',
        flagBefore: { strategies: [aStrategy({ id: one }), aStrategy({ id: two, disabled: true, sortOrder: 1 })] },
        changes: [enable('x', { shouldActivateDisabledStrategies: true })],
        enabledAfter: true,
        strategiesAfter: 2,
        emitted: ['feature-environment-enabled'],
      },
      {
        rule: 'deleting the last strategy disables the feature',
        flagBefore: { enabled: true, strategies: [aStrategy({ id: one })] },
        changes: [{ action: 'deleteStrategy', feature: 'x', payload: { id: one } }],
        enabledAfter: false,
        strategiesAfter: 0,
        emitted: ['feature-strategy-remove', 'feature-environment-disabled'],
      },
      {
        rule: 'deleting the last strategy does not disable a feature that gets another one',
        flagBefore: { enabled: true, strategies: [aStrategy({ id: one })] },
        changes: [{ action: 'deleteStrategy', feature: 'x', payload: { id: one } }, addStrategy('x')],
        enabledAfter: true,
        strategiesAfter: 1,
        emitted: ['feature-strategy-remove', 'feature-strategy-add'],
      },
      {
        rule: 'deleting the last strategy does not disable a feature that is enabled in the same request',
        flagBefore: { enabled: true, strategies: [aStrategy({ id: one })] },
        changes: [{ action: 'deleteStrategy', feature: 'x', payload: { id: one } }, enable('x')],
        enabledAfter: true,
        strategiesAfter: 1,
        emitted: ['feature-strategy-remove', 'feature-strategy-add'],
      },
    ])('$rule', async ({ flagBefore, changes, enabledAfter, strategiesAfter, emitted }) => {
      await service.given(flag('x', flagBefore));
      const previewed = await preview(changes);
      expect((await apply(changes)).outcome).toBe('applied');
      const now = await inDevelopment('x');
      expect([now?.enabled, now?.strategies?.length]).toEqual([enabledAfter, strategiesAfter]);
      expect(await types()).toEqual(emitted);
      expect(previewed.preview.applicable).toBe(true);
      expect(previewed.preview.features[0]?.after).toMatchObject({ enabled: enabledAfter });
      expect(Object.keys(previewed.preview.features[0]?.after?.['strategies'] as object)).toHaveLength(strategiesAfter);
    });

    it('an applied change request archives a feature in all environments', async () => {
      const on = { enabled: true, strategies: [aStrategy({ id: one })], variants: [] };
      await service.given(flag('x', { environments: { development: on, production: on } }));
      const previewed = await preview([{ action: 'archiveFeature', feature: 'x', payload: {} }]);
      expect(previewed.preview.features[0]?.after).toMatchObject({ archived: true });
      expect((await apply([{ action: 'archiveFeature', feature: 'x', payload: {} }])).outcome).toBe('applied');
      expect(await types()).toEqual(['feature-archived']);
      for (const [changeRequestId, where] of [environment, 'production'].entries()) {
        const later = await apply([enable('x')], { changeRequestId, environment: where });
        expect(later.conflicts).toMatchObject([{ code: 'feature-archived' }]);
      }
    });

    it('an applied change request archives children before their parents, in any order of the changes', async () => {
      const dependencies = [{ feature: 'parent', enabled: true, variants: [] }];
      await service.given(flag('parent'), flag('child', { dependencies }));
      const archive = (feature: string) => ({ action: 'archiveFeature', feature, payload: {} });
      expect((await apply([archive('parent')])).conflicts).toMatchObject([{ code: 'has-children' }]);
      expect((await apply([archive('parent'), archive('child')], { attempt: 2 })).outcome).toBe('applied');
      expect(await types()).toEqual(['feature-dependencies-removed', 'feature-archived', 'feature-archived']);
    });

    it('changes a segment for every project only for a user who may do so directly', async () => {
      const { id } = await service.call(CreateSegment, { body: { name: 'everywhere', constraints: [] } });
      const rename = { action: 'updateSegment', payload: { id, name: 'renamed' } };
      const drop = { action: 'deleteSegment', payload: { id } };
      const refused = (permission: string) => ({
        outcome: 'conflict',
        conflicts: [{ segment: id, message: expect.stringContaining(permission) }],
      });
      expect(await apply([rename])).toMatchObject(refused('UPDATE_SEGMENT'));
      const mayUpdate = { segmentPermissions: ['UPDATE_SEGMENT'] };
      expect(await apply([drop], { attempt: 2, ...mayUpdate })).toMatchObject(refused('DELETE_SEGMENT'));
      expect((await apply([rename], { attempt: 3, ...mayUpdate })).outcome).toBe('applied');
      const mayDelete = { changeRequestId: 32, segmentPermissions: ['DELETE_SEGMENT'] };
      expect((await apply([drop], mayDelete)).outcome).toBe('applied');
      expect((await types()).slice(1)).toEqual(['segment-updated', 'segment-deleted']);
    });

    it('leaves a segment for every project alone where another protected project uses it', async () => {
      const { id } = await service.call(CreateSegment, { body: { name: 'everywhere', constraints: [] } });
      await service.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
      const strategies = [aStrategy({ id: one, segments: [id] })];
      await service.given(flag('x', { project: 'shop', strategies }));
      const body = { project: 'shop', environment, isProtected: true, version: 1 };
      await service.call(SetProtection, { body });
      const rename = { action: 'updateSegment', payload: { id, name: 'renamed' } };
      const may = { segmentPermissions: ['UPDATE_SEGMENT'] };
      expect((await apply([rename], may)).conflicts).toMatchObject([
        { message: expect.stringContaining('was not approved for it') },
      ]);
      await service.call(SetProtection, { body: { ...body, isProtected: false, version: 2 } });
      expect((await apply([rename], { attempt: 2, ...may })).outcome).toBe('applied');
    });

    it('an applied change request removes the last use of a segment and deletes the segment', async () => {
      const { id } = await service.call(CreateSegment, { body: { name: 'beta', project, constraints: [] } });
      await service.given(flag('x', { strategies: [aStrategy({ id: one, segments: [id] })] }));
      const drop = { action: 'deleteSegment', payload: { id } };
      expect((await apply([drop])).conflicts).toMatchObject([{ code: 'segment-in-use', segment: id }]);
      const remove = { action: 'updateStrategy', feature: 'x', payload: { id: one, segments: [] } };
      expect((await apply([drop, remove], { attempt: 2 })).outcome).toBe('applied');
      expect((await types()).slice(1)).toEqual(['feature-strategy-update', 'segment-deleted']);
      expect((await service.states('segment')).at(-1)).toMatchObject({ id: String(id), state: null });
    });
  });

  describe('applying', () => {
    it('applies all changes of a request or none', async () => {
      await service.given(flag('x'), flag('y', { archivedAt: '2026-01-02T00:00:00.000Z' }));
      const gone = { action: 'updateStrategy', feature: 'x', payload: { id: one, title: 'a' } };
      expect(await apply([enable('x'), gone, addStrategy('y'), addStrategy('z')])).toMatchObject({
        outcome: 'conflict',
        conflicts: expect.arrayContaining([
          { code: 'feature-archived', message: 'Feature has been archived', feature: 'y' },
          { code: 'feature-deleted', message: 'Feature has been deleted', feature: 'z' },
          { code: 'strategy-deleted', message: 'Strategy has been deleted', feature: 'x', changeId: 2 },
        ]),
      });
      expect((await inDevelopment('x'))?.enabled).toBe(false);
      expect(await types()).toEqual([]);
    });

    it('applies a request exactly once under repeated and concurrent attempts', async () => {
      await service.given(flag('x'));
      const replies = await Promise.all(Array.from({ length: 8 }, () => apply([addStrategy('x')])));
      replies.push(await apply([addStrategy('x')], { attempt: 2 }));
      expect(new Set(replies.map((reply) => JSON.stringify(reply))).size).toBe(1);
      expect((await inDevelopment('x'))?.strategies).toHaveLength(1);
      expect(await types()).toEqual(['feature-strategy-add']);
    });

    it('returns the stored result of an attempt, and refuses a superseded attempt', async () => {
      const changes = [addStrategy('x')];
      expect((await apply(changes)).outcome).toBe('conflict');
      await service.given(flag('x'));
      // The same attempt, delivered late: its refusal may have been reported.
      expect((await apply(changes)).conflicts).toMatchObject([{ code: 'feature-deleted' }]);
      expect((await apply([enable('y')], { attempt: 3 })).outcome).toBe('conflict');
      expect((await apply(changes, { attempt: 2 })).conflicts).toMatchObject([{ code: 'superseded' }]);
      expect(await types()).toEqual([]);
      expect((await apply(changes, { attempt: 4 })).outcome).toBe('applied');
    });

    it('emits events with the applier as actor and the id of the change request', async () => {
      await service.given(flag('x'));
      await apply([enable('x')]);
      for (const event of await service.emittedEvents()) {
        expect(event).toMatchObject({ createdBy: 'kim', createdByUserId: 9, data: { changeRequestId: 31 } });
      }
    });

    it('refuses to overwrite newer edits if the request demands it', async () => {
      await service.given(flag('x', { strategies: [aStrategy({ id: one, title: 'newer' })] }));
      const change = { action: 'updateStrategy', feature: 'x', payload: { id: one, title: 'mine' } } as Change;
      const changes = [{ id: 1, change, snapshot: { id: one, title: 'older' } }];
      expect(await apply([], { changes, refuseOverwrites: true })).toMatchObject({
        outcome: 'overwrites',
        conflicts: [{ message: `Strategy ${one} of feature flag x was changed; applying would overwrite that change` }],
      });
      expect((await apply([], { changes, attempt: 2 })).outcome).toBe('applied');
    });

    it('returns inverse changes that revert the request', async () => {
      const strategies = [
        aStrategy({ id: one, title: 'a' }),
        aStrategy({
          id: two,
          name: 'flexibleRollout',
          parameters: { rollout: '7', stickiness: 'default', groupId: 'x' },
          sortOrder: 1,
        }),
      ];
      await service.given(flag('x', { enabled: true, strategies }), flag('parent'));
      const before = await inDevelopment('x');
      const { inverse } = await apply([
        { action: 'updateStrategy', feature: 'x', payload: { id: one, title: 'b', disabled: true } },
        { action: 'deleteStrategy', feature: 'x', payload: { id: two } },
        addStrategy('x', '50'),
        { action: 'reorderStrategy', feature: 'x', payload: [{ id: one, sortOrder: 9 }] },
        { action: 'addDependency', feature: 'x', payload: { feature: 'parent' } },
        { action: 'updateEnabled', feature: 'x', payload: { enabled: false } },
      ]);
      const changes = inverse.map((item, nth) => ({ ...(item as { change: Change; snapshot: unknown }), id: nth }));
      const again = await apply([], { changeRequestId: 32, changes, refuseOverwrites: true });
      expect(again).toMatchObject({ outcome: 'applied', conflicts: [] });
      const after = await inDevelopment('x');
      const plain = (it: typeof after) => ({ ...it, strategies: it?.strategies?.map(({ id: _, ...rest }) => rest) });
      expect(plain(after)).toEqual(plain(before));
    });
  });

  describe('a change request whose id was given before, to a request that a restore has removed', () => {
    const uids = ['0b5b6a52-0000-4000-8000-00000000000a', '0b5b6a52-0000-4000-8000-00000000000b'] as const;
    const titles = async (name: string) => (await inDevelopment(name))?.strategies?.map(({ parameters }) => parameters);

    it('applies a request whose id an applied request had before a restore', async () => {
      await service.given(flag('x'), flag('y'));
      await apply([addStrategy('x', '5')], { uid: uids[0] });
      const later = await apply([addStrategy('y', '7')], { uid: uids[1] });
      expect([later.outcome, (await titles('y'))?.length]).toEqual(['applied', 1]);
    });

    it('applies a request with a reused id even if its changes are the same', async () => {
      await service.given(flag('x'));
      await apply([addStrategy('x')], { uid: uids[0] });
      expect((await apply([addStrategy('x')], { uid: uids[1] })).outcome).toBe('applied');
      expect(await titles('x')).toHaveLength(2);
    });

    it('applies the current changes of a request that was restored as a draft', async () => {
      await service.given(flag('x'), flag('y'));
      await apply([addStrategy('x')], { uid: uids[0] });
      expect((await apply([addStrategy('y')], { uid: uids[0] })).outcome).toBe('applied');
      expect(await titles('y')).toHaveLength(1);
    });

    it('applies a request with a reused id exactly once under repeated attempts', async () => {
      await service.given(flag('x'));
      const first = await apply([addStrategy('x')], { uid: uids[1] });
      expect(await apply([addStrategy('x')], { uid: uids[1] })).toEqual(first);
      expect(await apply([addStrategy('x')], { uid: uids[1], attempt: 2 })).toEqual(first);
      expect(await titles('x')).toHaveLength(1);
    });

    it('ignores a delayed earlier attempt with other changes', async () => {
      await service.given(flag('x'), flag('y'));
      await apply([addStrategy('x')], { uid: uids[0], attempt: 2 });
      const late = await apply([addStrategy('y')], { uid: uids[0], attempt: 1 });
      expect(late).toMatchObject({ outcome: 'conflict', conflicts: [{ code: 'superseded' }] });
      expect(await titles('y')).toEqual([]);
    });
  });

  describe('a preview', () => {
    it('previews a conflict with a newer edit by property, in base, current and proposed values', async () => {
      const strategy = aStrategy({
        id: one,
        name: 'flexibleRollout',
        parameters: { rollout: '20', groupId: 'x' },
        title: 'same',
      });
      await service.given(flag('x', { strategies: [strategy] }));
      const payload = { id: one, title: 'mine', parameters: { rollout: '30', groupId: 'x' } };
      const snapshot = { id: one, title: 'same', parameters: { rollout: '10', groupId: 'x' } };
      const { preview: found, snapshots } = await preview(
        [{ action: 'updateStrategy', feature: 'x', payload }],
        [snapshot],
      );
      expect(found.features[0]).toMatchObject({
        changes: [
          { id: 1, overwrites: [{ property: 'parameters.rollout', snapshot: '10', current: '20', proposed: '30' }] },
        ],
        diff: expect.arrayContaining([{ path: `/strategies/${one}/title`, before: 'same', after: 'mine' }]),
      });
      expect(snapshots).toMatchObject([{ id: 1, snapshot: { title: 'same', parameters: { rollout: '20' } } }]);
    });

    it('previews side effects of changes without storing anything', async () => {
      await service.given(flag('x'), flag('y', { enabled: true, strategies: [aStrategy({ id: one })] }));
      const { preview: found } = await preview([
        enable('x'),
        { action: 'deleteStrategy', feature: 'y', payload: { id: one } },
      ]);
      expect(found.features.map(({ defaultChange }) => defaultChange)).toMatchObject([
        { action: 'addStrategy', payload: { name: 'flexibleRollout', parameters: { rollout: '100', groupId: 'x' } } },
        { action: 'updateEnabled', payload: { enabled: false } },
      ]);
      expect(await types()).toEqual([]);
    });

    it('previews 300 change requests in one call', async () => {
      await service.given(flag('x'));
      const requests = Array.from({ length: 300 }, (_, id) => ({
        environment,
        changes: [{ id, change: enable('x') as Change, snapshot: null }],
      }));
      const body = { project, withStates: false, requests };
      const { previews } = await service.call(PreviewChanges, { body });
      expect(previews).toHaveLength(300);
    });

    it('applies 200 changes to 100 features in one request', async () => {
      const names = Array.from({ length: 100 }, (_, nth) => `flag-${nth}`);
      await service.given(...names.map((name) => flag(name)));
      expect((await apply(names.flatMap((name) => [addStrategy(name), enable(name)]))).outcome).toBe('applied');
      expect(await types()).toHaveLength(200);
    });
  });
});

describe('checking changes', () => {
  let segment: { id: number };
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
    segment = await features.call(CreateSegment, { body: { name: 'staff', project: 'shop', constraints: [] } });
    await features.given(
      aFeature({
        name: 'checkout',
        enabled: true,
        strategies: [aStrategy({ id: 'everyone', segments: [segment.id] })],
      }),
      aFeature({ name: 'parent' }),
      aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
      aFeature({ name: 'foreign', project: 'default' }),
      aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await features.clearOutbox();
  });

  const check = (
    changes: readonly Change[],
    earlier: readonly Change[] = [],
    environment = 'development',
    project = 'shop',
  ) => features.call(CheckChanges, { body: { project, environment, changes: [...changes], earlier: [...earlier] } });

  const retitled: Change = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'everyone', title: 'All' } };

  it('checks changes and returns what they edit, store and replace, without storing anything', async () => {
    const constraint: Constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
    const { changes } = await check([
      retitled,
      {
        action: 'addStrategy',
        feature: 'parent',
        payload: {
          name: 'flexibleRollout',
          constraints: [constraint],
          parameters: {},
          segments: [segment.id, segment.id],
        },
      },
      { action: 'updateSegment', payload: { id: segment.id, name: 'crew' } },
    ]);
    expect(changes).toMatchObject([
      { action: 'updateStrategy', feature: 'checkout', segment: null, snapshot: { id: 'everyone', title: null } },
      {
        action: 'addStrategy',
        feature: 'parent',
        snapshot: null,
        payload: {
          parameters: { rollout: '100', stickiness: 'default', groupId: 'parent' },
          constraints: [{ ...constraint, inverted: false, caseInsensitive: false }],
          segments: [segment.id],
        },
      },
      {
        action: 'updateSegment',
        feature: null,
        segment: { id: segment.id, name: 'staff' },
        payload: { id: segment.id, name: 'crew' },
        snapshot: { name: 'staff', constraints: [] },
      },
    ]);
    expect(await features.emittedEvents()).toEqual([]);
    expect(await features.states('feature')).toEqual([]);
  });

  it('checks changes on top of earlier changes, without those that conflict', async () => {
    const archived: Change = { action: 'archiveFeature', feature: 'child', payload: {} };
    const parentGone: Change = { action: 'archiveFeature', feature: 'parent', payload: {} };
    await expect(check([parentGone])).rejects.toMatchObject({ message: /other features depend on it/ });
    expect((await check([parentGone], [archived])).changes).toMatchObject([{ feature: 'parent' }]);
    const gone: Change = { action: 'deleteStrategy', feature: 'checkout', payload: { id: 'gone long ago' } };
    expect((await check([retitled], [gone])).changes).toHaveLength(1);
  });

  it('checks changes against uses of segments, names and dependencies', async () => {
    const deleted: Change = { action: 'deleteSegment', payload: { id: segment.id } };
    await expect(check([deleted])).rejects.toMatchObject({ kind: 'ValidationError', message: /checkout/ });
    const unused: Change = { action: 'updateStrategy', feature: 'checkout', payload: { id: 'everyone', segments: [] } };
    expect((await check([unused, deleted])).changes).toHaveLength(2);

    await features.call(CreateSegment, { body: { name: 'taken', constraints: [] } });
    await expect(
      check([{ action: 'updateSegment', payload: { id: segment.id, name: 'taken' } }]),
    ).rejects.toMatchObject({
      message: /Segment name already exists/,
    });
    const depends = (feature: string, on: string): Change => ({
      action: 'addDependency',
      feature,
      payload: { feature: on },
    });
    expect((await check([depends('checkout', 'parent')])).changes).toMatchObject([
      { payload: { feature: 'parent', enabled: true, variants: [] } },
    ]);
    await expect(check([depends('parent', 'checkout')])).rejects.toMatchObject({ message: /Transitive dependency/ });
  });

  it('refuses changes of objects that the project or environment does not have, and names the invalid change', async () => {
    const enabled = (feature: string): Change => ({ action: 'updateEnabled', feature, payload: { enabled: true } });
    const bad: Constraint[] = [{ contextName: 'userId', operator: 'NUM_GT', value: 'many' }];
    const wrong: Change = {
      action: 'updateStrategy',
      feature: 'checkout',
      payload: { id: 'everyone', constraints: bad },
    };
    await expect(check([retitled, wrong])).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /`\/body\/1\/payload\/constraints\/0\/value`/,
    });
    await expect(check([retitled], [], 'production')).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(check([enabled('unknown')])).rejects.toMatchObject({ kind: 'NotFoundError', message: /unknown/ });
    await expect(check([enabled('foreign')])).rejects.toMatchObject({ kind: 'NotFoundError', message: /"default"/ });
    await expect(check([enabled('old')])).rejects.toMatchObject({ kind: 'ArchivedFeatureError' });
    await expect(check([enabled('checkout')], [], 'moon')).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: /moon/,
    });
    await expect(check([enabled('checkout')], [], 'development', 'moon')).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });
});
