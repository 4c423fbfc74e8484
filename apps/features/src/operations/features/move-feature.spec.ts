import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import { CreateProject, MoveFeature, SetProtection } from '@bunting/contracts';
import { aFeature } from '../../../test/builders.ts';
import { mia, someoneWho, type StartedFeatures, startFeatures } from '../../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
  await features.call(CreateProject, { body: { id: 'narrow', name: 'narrow', environments: ['production'] } });
  await features.given(
    aFeature({ name: 'free' }),
    aFeature({ name: 'parent' }),
    aFeature({ name: 'child', dependencies: [{ feature: 'parent', enabled: true, variants: [] }] }),
  );
});
afterAll(() => features.stop());
beforeEach(() => features.forget());

const move = (featureName: string, newProjectId: string, caller = mia, projectId = 'shop') =>
  features.call(MoveFeature, { params: { projectId, featureName }, body: { newProjectId } }, caller);

it('refuses a target that is not there or has other environments, and a feature with a family', async () => {
  await expect(move('free', 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(move('free', 'garage', mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(move('free', 'narrow')).rejects.toMatchObject({ kind: 'IncompatibleProjectError' });
  for (const name of ['parent', 'child']) {
    await expect(move(name, 'garage')).rejects.toMatchObject({ kind: 'ForbiddenError' });
  }
  const here = someoneWho({ permission: 'MOVE_FEATURE_TOGGLE', project: 'shop' });
  await expect(move('free', 'garage', here)).rejects.toMatchObject({ permissions: ['MOVE_FEATURE_TOGGLE'] });
  expect(await features.told()).toEqual([]);
});

it('brings no strategies past the change requests of the target, except for those who may skip them', async () => {
  const said = { project: 'garage', environment: 'production' };
  await features.call(SetProtection, { body: { ...said, isProtected: true, version: 1 } });
  await expect(move('free', 'garage', someoneWho({ permission: 'MOVE_FEATURE_TOGGLE' }))).rejects.toMatchObject({
    kind: 'ForbiddenError',
    message: 'Changing project not allowed. Project garage has change requests enabled.',
  });
  await features.call(SetProtection, { body: { ...said, isProtected: false, version: 2 } });
});

it('moves a feature to another project, and tells it of the new one', async () => {
  await move('free', 'garage');
  await move('free', 'garage', mia, 'garage');
  expect(await features.told()).toMatchObject([
    {
      ...{ type: 'feature-project-change', project: 'garage', featureName: 'free' },
      data: { oldProject: 'shop', newProject: 'garage' },
    },
  ]);
  expect(await features.get('free', mia, 'garage')).toMatchObject({ project: 'garage' });
  expect((await features.stateOf('free'))?.project).toBe('garage');
});
