import { beforeAll, beforeEach, expect, it } from 'vitest';
import {
  AddFavoriteFeature,
  ListFeatureFollowers,
  PatchFeature,
  type Refusal,
  RemoveFavoriteFeature,
  systemCaller,
} from '@bunting/contracts';
import { lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.create('lamp');
});
beforeEach(() => features.clearOutbox());

const at = (featureName = 'lamp') => ({ projectId: 'default', featureName });
const add = (caller = mia, params = at()) => features.call(AddFavoriteFeature, { params }, caller);
const remove = (caller = mia, params = at()) => features.call(RemoveFavoriteFeature, { params }, caller);

it('stores favourites by user, with events for changes and the users in the state', async () => {
  await add();
  await add();
  await add(lee);
  expect((await features.lastState('lamp'))?.favoritedBy).toEqual([1, 2]);
  expect((await features.get('lamp', mia)).favorite).toBe(true);
  await remove();
  await remove();
  expect((await features.lastState('lamp'))?.favoritedBy).toEqual([2]);
  expect((await features.get('lamp', mia)).favorite).toBe(false);
  expect((await features.get('lamp', lee)).favorite).toBe(true);
  expect(
    (await features.emittedEvents()).map(({ type, project, featureName, data, createdBy }) => [
      type,
      project,
      featureName,
      data,
      createdBy,
    ]),
  ).toEqual([
    ['feature-favorited', null, 'lamp', { feature: 'lamp' }, 'mia'],
    ['feature-favorited', null, 'lamp', { feature: 'lamp' }, 'lee'],
    ['feature-unfavorited', null, 'lamp', { feature: 'lamp' }, 'mia'],
  ]);
});

it('leaves the feature as it is for others: a favourite changes neither its tag nor its collaborators', async () => {
  const params = at();
  const patch = (ifMatch: readonly string[]) => {
    const body = [{ op: 'replace' as const, path: '/description', value: 'bright' }];
    return features.call(PatchFeature, { params, body }, mia, { ifMatch });
  };
  const refused = await patch(['outdated']).catch((error: unknown) => error as Refusal);
  const { tag = '' } = refused as Refusal;
  const { collaborators } = await features.get('lamp');
  await add({ ...lee, id: 77, name: 'a fan' });
  expect((await features.get('lamp')).collaborators).toEqual(collaborators);
  expect(await patch([tag])).toMatchObject({ description: 'bright' });
});

it('refuses an unknown feature as a favourite', async () => {
  for (const params of [at('unknown'), { ...at(), projectId: 'moon' }]) {
    for (const missing of [() => add(mia, params), () => remove(mia, params)]) {
      await expect(missing()).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
  }
});

it('lists who created features and whose favourites they are, for the service that tells them', async () => {
  await add(mia);
  const { features: found, productionEnvironments } = await features.call(
    ListFeatureFollowers,
    { body: { names: ['lamp', 'unknown'] } },
    systemCaller,
  );
  expect(found).toEqual([
    { name: 'lamp', createdBy: expect.any(Number) as number, favoriteOf: expect.arrayContaining([mia.id]) as number[] },
  ]);
  expect(productionEnvironments).toEqual(['production']);
});
