import {
  GetContextField,
  GetEnvironmentVariants,
  GetFeatureEnvironment,
  GetProjectOverview,
  ListStrategies,
  SetStrategyOrder,
  UpdateProject,
} from '@bunting/contracts';
import { beforeAll, expect, it } from 'vitest';
import { aFeature } from './builders.ts';
import { useFeatures } from './started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.given(aFeature({ project: 'default' }));
});

const params = { projectId: 'default', featureName: 'checkout', environment: 'moon' };

it.each([
  [
    'an environment of a feature',
    () => features.call(GetFeatureEnvironment, { params }),
    'Could not find checkout in moon',
  ],
  ['variants', () => features.call(GetEnvironmentVariants, { params }), 'Could not find checkout in moon'],
  ['strategies', () => features.call(ListStrategies, { params }), 'Feature checkout does not have environment moon'],
  [
    'the order of strategies',
    () => features.call(SetStrategyOrder, { params, body: [] }),
    'Feature checkout does not have environment moon',
  ],
  ['an overview', () => features.call(GetProjectOverview, { params: { projectId: 'moon' } }), 'No project found: moon'],
  [
    'an update',
    () => features.call(UpdateProject, { params: { projectId: 'moon' }, body: { name: 'Moon' } }),
    'No project found: moon',
  ],
  [
    'a context field',
    () => features.call(GetContextField, { params: { name: 'moon' } }),
    'Could not find context field moon',
  ],
])('the message of a missing environment, project or field of %s is that of Unleash', async (_, call, message) => {
  await expect(call()).rejects.toMatchObject({ kind: 'NotFoundError', message });
});
