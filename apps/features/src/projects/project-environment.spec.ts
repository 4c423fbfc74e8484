import { expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { refusalOf } from '../../test/refusal-of.ts';
import { addProjectEnvironment, removeProjectEnvironment, withoutEnvironment } from './project-environment.ts';

const shop = { project: { id: 'shop' }, environments: ['development'] };

it('a project gets an environment once', () => {
  const added = { type: 'project-environment-added', project: 'shop', environment: 'staging' };
  expect(addProjectEnvironment(shop, 'staging', true)).toEqual(added);
  expect(refusalOf(() => addProjectEnvironment(shop, 'development', true))).toMatchObject({
    kind: 'ConflictError',
    message: 'shop already has the environment development enabled',
  });
});

it('a project can get only an environment that exists', () => {
  expect(refusalOf(() => addProjectEnvironment(shop, 'moon', false))).toMatchObject({
    kind: 'ValidationError',
    message: 'Could not find environment moon: see the `/body/environment` property.',
  });
});

it('a project can lose only an environment that it has', () => {
  const removed = { type: 'project-environment-removed', project: 'shop', environment: 'development' };
  expect(removeProjectEnvironment(shop, 'development')).toEqual(removed);
  expect(refusalOf(() => removeProjectEnvironment(shop, 'staging'))).toMatchObject({
    kind: 'NotFoundError',
    message: 'Could not find environment staging for project: shop',
  });
});

it('a project that loses an environment keeps none of its settings', () => {
  const feature = aFeature({ strategies: [aStrategy()], enabled: true });
  expect(withoutEnvironment(feature, 'development').environments).toEqual({});
});
