import { beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddDependency,
  type AddDependencyBody,
  CreateProject,
  HasDependencies,
  ListParentVariants,
  ListPossibleParents,
  RemoveDependencies,
  RemoveDependency,
  type StrategyVariant,
} from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
});

const red: StrategyVariant = { name: 'red', weight: 1000, weightType: 'variable', stickiness: 'default' };
beforeEach(async () => {
  await features.database.transaction(({ query }) => query('delete from feature'));
  await features.given(
    aFeature({ name: 'mother', strategies: [aStrategy({ variants: [red] })] }),
    aFeature({ name: 'father' }),
    aFeature({ name: 'child' }),
    aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }),
    aFeature({ name: 'foreign', project: 'garage' }),
  );
  await features.clearOutbox();
});

const at = (featureName: string, projectId = 'shop') => ({ projectId, featureName });
const add = (featureName: string, body: AddDependencyBody, caller = mia) =>
  features.call(AddDependency, { params: at(featureName), body }, caller);
const remove = (parent: string, caller = mia) =>
  features.call(RemoveDependency, { params: { ...at('child'), parent } }, caller);
const removeAll = (caller = mia) => features.call(RemoveDependencies, { params: at('child') }, caller);
const emitted = async () =>
  (await features.emittedEvents()).map(({ type, featureName, data }) => [type, featureName, data]);

it('adds, replaces and removes the parent of a feature, with events and the states of all features involved', async () => {
  await add('child', { feature: 'mother', variants: ['red'] });
  await add('child', { feature: 'mother', variants: ['red'] });
  await add('child', { feature: 'father', enabled: false, variants: ['red'] });
  await remove('father');
  expect(await emitted()).toEqual([
    ['feature-dependency-added', 'child', { feature: 'mother', enabled: true, variants: ['red'] }],
    ['feature-dependency-removed', 'child', { feature: 'mother' }],
    ['feature-dependency-added', 'child', { feature: 'father', enabled: false, variants: [] }],
    ['feature-dependency-removed', 'child', { feature: 'father' }],
  ]);
  for (const name of ['child', 'mother', 'father']) {
    expect((await features.lastState(name))?.dependencyType).toBeNull();
  }
});

it('removes all dependencies of a feature, and nothing where there are none', async () => {
  await add('child', { feature: 'mother' });
  await features.clearOutbox();
  await remove('father');
  await removeAll();
  await removeAll();
  expect(await emitted()).toEqual([['feature-dependencies-removed', 'child', null]]);
});

it('refuses invalid dependencies and stores nothing', async () => {
  await add('child', { feature: 'mother' });
  await features.clearOutbox();
  for (const [child, parent, message] of [
    ['father', 'father', /itself/],
    ['mother', 'father', /other features depend on/],
    ['father', 'child', /has parent dependency/],
    ['father', 'unknown', /No active feature unknown exists/],
    ['father', 'old', /No active feature old exists/],
    ['father', 'foreign', /same project/],
  ] as const) {
    await expect(add(child, { feature: parent })).rejects.toMatchObject({ kind: 'InvalidOperationError', message });
  }
  for (const child of ['unknown', 'foreign']) {
    for (const caller of [mia, lee]) {
      await expect(add(child, { feature: 'mother' }, caller)).rejects.toMatchObject({
        kind: 'NotFoundError',
        message: `There's no feature named "${child}" in project "shop".`,
      });
    }
  }
  for (const refused of [
    () => add('child', { feature: 'mother' }, lee),
    () => remove('mother', lee),
    () => removeAll(lee),
  ]) {
    await expect(refused()).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_DEPENDENCY'] });
  }
  expect(await features.emittedEvents()).toEqual([]);
});

it("never lets two features become each other's parent concurrently", async () => {
  for (let round = 0; round < 5; round += 1) {
    const outcomes = await Promise.allSettled([
      add('mother', { feature: 'father' }),
      add('father', { feature: 'mother' }),
    ]);
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    await features.database.transaction(({ query }) =>
      query(`update feature set dependencies = '[]', parents = '{}' where name in ('mother', 'father')`),
    );
  }
});

it('lists possible parents and their variants, and an empty list for an unknown feature', async () => {
  const parents = (featureName: string) => features.call(ListPossibleParents, { params: at(featureName) });
  const anybody = () => features.call(HasDependencies, { params: { projectId: 'shop' } });
  expect(await parents('child')).toEqual(['father', 'mother']);
  expect(await anybody()).toBe(false);
  await add('child', { feature: 'mother' });
  expect(await parents('father')).toEqual(['mother']);
  expect(await parents('mother')).toEqual([]);
  expect(await anybody()).toBe(true);
  expect(await features.call(ListParentVariants, { params: at('mother') })).toEqual(['red']);
  expect(await features.call(ListParentVariants, { params: at('father') })).toEqual([]);
  for (const operation of [ListPossibleParents, ListParentVariants]) {
    expect(await features.call(operation, { params: at('unknown') })).toEqual([]);
    expect(await features.call(operation, { params: { ...at('child'), projectId: 'moon' } })).toEqual([]);
  }
});
