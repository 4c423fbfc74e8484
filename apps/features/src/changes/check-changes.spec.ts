import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Change, CheckChanges, type Constraint, CreateProject, CreateSegment } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
let segment: { id: number };
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  segment = await features.call(CreateSegment, { body: { name: 'staff', project: 'shop', constraints: [] } });
  await features.given(
    aFeature({ name: 'checkout', enabled: true, strategies: [aStrategy({ id: 'everyone', segments: [segment.id] })] }),
    aFeature({ name: 'parent' }),
    aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
    aFeature({ name: 'foreign', project: 'default' }),
    aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }),
  );
  await features.clearOutbox();
});
afterAll(() => features.stop());

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
  await expect(check([{ action: 'updateSegment', payload: { id: segment.id, name: 'taken' } }])).rejects.toMatchObject({
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
