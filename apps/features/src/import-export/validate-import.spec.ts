import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ExportedFeatures, ListFeatures, UpdateProjectSettings, ValidateImport } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.given(aFeature({ name: 'gone', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
});
afterAll(() => features.stop());

const validate = (about: Partial<ExportedFeatures>, caller = mia, project = 'default') => {
  const data = { features: [{ name: 'new' }], featureStrategies: [], tagTypes: [], ...about };
  return features.call(ValidateImport, { body: { project, environment: 'development', data } }, caller);
};

it('validates a correct file without errors and imports nothing', async () => {
  expect(await validate({})).toEqual({ errors: [], warnings: [], permissions: [] });
  const { features: now } = await features.call(ListFeatures, { params: { projectId: 'default' } });
  expect(now).toEqual([]);
  expect(await features.emittedEvents()).toEqual([]);
});

it('validates a file and returns errors, warnings and missing permissions', async () => {
  const { errors } = await validate({
    featureStrategies: [{ featureName: 'new', name: 'moon', segments: [] }],
  });
  expect(errors.map(({ affectedItems }) => affectedItems)).toEqual([['new']]);
  expect(errors[0]?.message).toMatch(/"moon" does not exist/);

  expect(await validate({ features: [{ name: 'gone' }] })).toMatchObject({
    warnings: [{ affectedItems: ['gone'] }],
  });

  const kim = callerWith({ permission: 'CREATE_FEATURE', project: 'default' });
  const strategies = [{ featureName: 'new', name: 'default' }];
  const { permissions } = await validate({ featureStrategies: strategies }, kim);
  expect(permissions).toMatchObject([{ affectedItems: ['CREATE_FEATURE_STRATEGY'] }]);

  await expect(validate({}, mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(validate({}, kim, 'moon')).rejects.toMatchObject({ kind: 'NoAccessError' });
});

it('validating an import does not wait for locks on its features', async () => {
  await features.given(aFeature({ name: 'busy', project: 'default' }));
  await features.database.transaction(async ({ query }) => {
    await query(`select from feature where name = 'busy' for update`);
    expect(await validate({ features: [{ name: 'busy' }] })).toEqual({ errors: [], warnings: [], permissions: [] });
  });
});

it('validating an import reports an exceeded limit', async () => {
  await features.call(UpdateProjectSettings, { params: { projectId: 'default' }, body: { featureLimit: 0 } });
  const { errors } = await validate({});
  expect(errors.map(({ message }) => message)).toEqual([
    'You have reached the maximum number of feature flags for this project.',
  ]);
});
