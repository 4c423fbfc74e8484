import { beforeEach, expect, it } from 'vitest';
import {
  type FeatureVariant,
  GetEnvironmentVariants,
  GetFeatureVariants,
  PatchEnvironmentVariants,
  PatchFeatureVariants,
  SetEnvironmentVariants,
  SetFeatureVariants,
  SetVariantsOfEnvironments,
} from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, callerWith, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();

const variant = (name: string): FeatureVariant => ({ name, weight: 0 });

let nth = 0;
let featureName: string;
beforeEach(async () => {
  featureName = `feature-${(nth += 1)}`;
  const variants = [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' } as const];
  const environments = { development: { enabled: false, strategies: [], variants } };
  await features.given(aFeature({ name: featureName, project: 'default', environments }));
  await features.create(`plain-${nth}`);
  await features.clearOutbox();
});

const at = (name = featureName) => ({ projectId: 'default', featureName: name });
const within = (environment = 'development', name = featureName) => ({ ...at(name), environment });
const weights = ({ variants }: { variants: readonly FeatureVariant[] }) =>
  variants.map(({ name, weight }) => [name, weight]);
const inEnvironment = async (environment: string) =>
  weights(await features.call(GetEnvironmentVariants, { params: within(environment) }));
const emitted = async () => (await features.emittedEvents()).map(({ type, environment }) => [type, environment]);

it('sets and patches variants in an environment, computes their weights, and emits the previous ones', async () => {
  const body = [variant('c'), variant('b'), variant('a')];
  const reply = await features.call(SetEnvironmentVariants, { params: within(), body });
  expect(weights(reply)).toEqual([
    ['a', 333],
    ['b', 333],
    ['c', 334],
  ]);
  expect(await features.call(GetEnvironmentVariants, { params: within() })).toEqual(reply);
  await features.call(SetEnvironmentVariants, { params: within(), body });
  const patch = [{ op: 'remove', path: '/2' } as const, { op: 'add', path: '/-', value: variant('d') } as const];
  await features.call(PatchEnvironmentVariants, { params: within(), body: patch });
  expect(await inEnvironment('development')).toEqual([
    ['a', 334],
    ['b', 333],
    ['d', 333],
  ]);
  expect(await emitted()).toEqual([
    ['feature-environment-variants-updated', 'development'],
    ['feature-environment-variants-updated', 'development'],
  ]);
  expect((await features.emittedEvents())[0]).toMatchObject({
    preData: { variants: [{ name: 'a' }] },
    data: { variants: [{ name: 'a' }, { name: 'b' }, { name: 'c' }] },
  });
});

it('refuses variants for a feature without any, except in a batch', async () => {
  const plain = `plain-${nth}`;
  const params = within('development', plain);
  for (const refused of [
    () => features.call(SetEnvironmentVariants, { params, body: [] }),
    () => features.call(PatchEnvironmentVariants, { params, body: [] }),
  ]) {
    await expect(refused()).rejects.toMatchObject({ kind: 'InvalidOperationError', message: /Use strategy variants/ });
  }
  const body = { environments: ['development', 'production'], variants: [variant('x')] };
  const reply = await features.call(SetVariantsOfEnvironments, { params: at(plain), body });
  expect(weights(reply)).toEqual([['x', 1000]]);
  expect(await emitted()).toEqual([
    ['feature-environment-variants-updated', 'development'],
    ['feature-environment-variants-updated', 'production'],
  ]);
});

it('sets and patches variants in all environments', async () => {
  const params = at();
  expect(weights(await features.call(SetFeatureVariants, { params, body: [variant('a')] }))).toEqual([['a', 1000]]);
  expect(await inEnvironment('production')).toEqual([['a', 1000]]);
  await features.call(SetFeatureVariants, { params, body: [variant('a')] });
  const patch = [{ op: 'add', path: '/-', value: variant('b') } as const];
  const reply = await features.call(PatchFeatureVariants, { params, body: patch });
  expect(weights(reply)).toEqual([
    ['a', 500],
    ['b', 500],
  ]);
  expect(await features.call(GetFeatureVariants, { params })).toEqual(reply);
  expect(await emitted()).toEqual([
    ['feature-variants-updated', null],
    ['feature-environment-variants-updated', 'development'],
    ['feature-environment-variants-updated', 'production'],
  ]);
});

it('refuses invalid variants, names the property, and stores nothing', async () => {
  const body = [variant('a'), variant('a b')];
  await expect(features.call(SetEnvironmentVariants, { params: within(), body })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /\/body\/1\/name/,
  });
  for (const patch of [
    { op: 'replace', path: '/7', value: variant('x') },
    { op: 'replace', path: '/0/weight', value: 'heavy' },
    { op: 'remove', path: '' },
    { op: 'add', path: '/0/__proto__', value: {} },
  ] as const) {
    await expect(features.call(PatchEnvironmentVariants, { params: within(), body: [patch] })).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /variants/,
    });
  }
  expect(await features.emittedEvents()).toEqual([]);
});

it('changes variants only of known features and environments and with the permission', async () => {
  for (const params of [within('moon'), within('development', 'unknown')]) {
    for (const missing of [
      () => features.call(GetEnvironmentVariants, { params }),
      () => features.call(SetEnvironmentVariants, { params, body: [] }),
      () => features.call(PatchEnvironmentVariants, { params, body: [] }),
      () =>
        features.call(SetVariantsOfEnvironments, {
          params,
          body: { environments: [params.environment], variants: [] },
        }),
    ]) {
      await expect(missing()).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
  }
  const permission = 'UPDATE_FEATURE_ENVIRONMENT_VARIANTS';
  const developer = callerWith({ permission, environment: 'development' });
  const body = { environments: ['development', 'production'], variants: [] };
  await expect(features.call(SetVariantsOfEnvironments, { params: at(), body }, developer)).rejects.toMatchObject({
    permissions: [permission],
  });
  for (const refused of [
    () => features.call(SetEnvironmentVariants, { params: within(), body: [] }, lee),
    () => features.call(PatchEnvironmentVariants, { params: within(), body: [] }, lee),
    () => features.call(SetFeatureVariants, { params: at(), body: [] }, lee),
    () => features.call(PatchFeatureVariants, { params: at(), body: [] }, lee),
  ]) {
    await expect(refused()).rejects.toMatchObject({ kind: 'NoAccessError' });
  }
  expect((await features.get(featureName, mia)).name).toBe(featureName);
});
