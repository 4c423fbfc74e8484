import { beforeAll, beforeEach, expect, it } from 'vitest';
import {
  ArchiveFeature,
  CompleteFeature,
  type CompleteFeatureBody,
  CountLifecycles,
  GetLifecycle,
  GetProjectHealth,
  GetProjectStatus,
  SetStale,
  UncompleteFeature,
} from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.create('lamp');
});
beforeEach(() => features.clearOutbox());

const at = (featureName = 'lamp') => ({ projectId: 'default', featureName });
const complete = (body: CompleteFeatureBody, params = at(), caller = mia) =>
  features.call(CompleteFeature, { params, body }, caller);
const uncomplete = (params = at(), caller = mia) => features.call(UncompleteFeature, { params }, caller);
const stages = async () =>
  (await features.call(GetLifecycle, { params: at() })).map(({ stage, status }) => [stage, status]);

it('completes and uncompletes a feature, with events for changes only', async () => {
  await complete({ status: 'kept', statusValue: 'red' });
  await complete({ status: 'kept', statusValue: 'red' });
  expect((await features.get('lamp')).lifecycle).toMatchObject({ stage: 'completed', status: 'kept' });
  const [, first] = await features.call(GetLifecycle, { params: at() });
  await complete({ status: 'discarded' });
  expect(await stages()).toEqual([
    ['initial', undefined],
    ['completed', 'discarded'],
  ]);
  const [, second] = await features.call(GetLifecycle, { params: at() });
  expect(second?.enteredStageAt).toBe(first?.enteredStageAt);
  await uncomplete();
  await uncomplete();
  expect(await stages()).toEqual([['initial', undefined]]);
  expect((await features.emittedEvents()).map(({ type, data }) => [type, data])).toEqual([
    ['feature-completed', { status: 'kept', statusValue: 'red', kept: true }],
    ['feature-completed', { status: 'discarded', kept: false }],
    ['feature-uncompleted', null],
  ]);
});

it('completes only known features and with UPDATE_FEATURE', async () => {
  for (const params of [at('unknown'), { ...at(), projectId: 'moon' }]) {
    for (const missing of [
      () => complete({ status: 'kept' }, params),
      () => uncomplete(params),
      () => features.call(GetLifecycle, { params }),
    ]) {
      await expect(missing()).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
  }
  for (const refused of [() => complete({ status: 'kept' }, at(), lee), () => uncomplete(at(), lee)]) {
    await expect(refused()).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
  }
});

it('counts visible features by lifecycle stage, and the stale ones of a project', async () => {
  const used = (name: string, ...stages: ('initial' | 'pre-live' | 'live')[]) =>
    aFeature({
      name,
      project: 'default',
      lifecycle: stages.map((stage) => ({ stage, enteredStageAt: '2026-01-01T00:00:00.000Z' })),
    });
  await features.given(used('one', 'initial', 'pre-live'), used('two', 'initial', 'pre-live', 'live'));
  await features.given(used('three', 'initial', 'pre-live', 'live'));
  await features.call(ArchiveFeature, { params: at('two') });
  const count = (caller = mia) => features.call(CountLifecycles, {}, caller);
  await complete({ status: 'kept' });
  expect(await count()).toEqual({ initial: 0, preLive: 1, live: 1, completed: 1, archived: 1 });
  expect(await count({ ...lee, hiddenProjects: ['default'] })).toEqual({
    initial: 0,
    preLive: 0,
    live: 0,
    completed: 0,
    archived: 0,
  });

  const params = { projectId: 'default' };
  await features.call(SetStale, { params, body: { features: ['one'], stale: true } });
  await features.database.transaction(({ query }) =>
    query("update feature set potentially_stale = true where name in ('one', 'three')"),
  );
  const report = await features.call(GetProjectHealth, { params });
  expect(report).toMatchObject({ activeCount: 2, staleCount: 1, potentiallyStaleCount: 1, health: 67, members: 3 });
  expect(report.features.map(({ name }) => name)).toEqual(['lamp', 'one', 'three']);
});

it('a feature that is completed before its first metrics stays completed in all replies', async () => {
  const count = () => features.call(CountLifecycles, {});
  const summary = async () =>
    (await features.call(GetProjectStatus, { params: { projectId: 'default' } })).lifecycleSummary;
  const [countBefore, before] = [await count(), await summary()];
  const entered = (stage: 'initial' | 'completed' | 'pre-live' | 'live', day: string) => ({
    stage,
    enteredStageAt: `2026-01-${day}T00:00:00.000Z`,
  });
  const lifecycle = [
    entered('initial', '01'),
    entered('completed', '03'),
    entered('pre-live', '04'),
    entered('live', '05'),
  ];
  await features.given(aFeature({ name: 'used-late', project: 'default', lifecycle }));

  expect((await features.get('used-late')).lifecycle).toEqual(entered('completed', '03'));
  expect(await count()).toEqual({ ...countBefore, completed: countBefore.completed + 1 });
  const after = await summary();
  expect(after).toEqual({
    ...before,
    initial: { ...before.initial, averageDays: expect.any(Number) },
    completed: { currentFlags: before.completed.currentFlags + 1, averageDays: expect.any(Number) },
  });
});
