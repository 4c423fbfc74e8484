import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CreateProject, MoveFeature, SetProtection } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

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
beforeEach(() => features.clearOutbox());

const move = (featureName: string, newProjectId: string, caller = mia, projectId = 'shop') =>
  features.call(MoveFeature, { params: { projectId, featureName }, body: { newProjectId } }, caller);

it('refuses to move a feature into an unknown project or one with other environments, or with dependencies', async () => {
  await expect(move('free', 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(move('free', 'garage', mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(move('free', 'narrow')).rejects.toMatchObject({ kind: 'IncompatibleProjectError' });
  for (const name of ['parent', 'child']) {
    await expect(move(name, 'garage')).rejects.toMatchObject({ kind: 'ForbiddenError' });
  }
  const here = callerWith({ permission: 'MOVE_FEATURE_TOGGLE', project: 'shop' });
  await expect(move('free', 'garage', here)).rejects.toMatchObject({ permissions: ['MOVE_FEATURE_TOGGLE'] });
  expect(await features.emittedEvents()).toEqual([]);
});

it('refuses to move strategies into a protected project without SKIP_CHANGE_REQUEST', async () => {
  const said = { project: 'garage', environment: 'production' };
  await features.call(SetProtection, { body: { ...said, isProtected: true, version: 1 } });
  await expect(move('free', 'garage', callerWith({ permission: 'MOVE_FEATURE_TOGGLE' }))).rejects.toMatchObject({
    kind: 'ForbiddenError',
    message: 'Changing project not allowed. Project garage has change requests enabled.',
  });
  await features.call(SetProtection, { body: { ...said, isProtected: false, version: 2 } });
});

it('refuses to move a feature out of a protected project without SKIP_CHANGE_REQUEST, and marks the event otherwise', async () => {
  const production = { environment: 'production' };
  await features.call(CreateProject, { body: { id: 'guarded', name: 'guarded' } });
  await features.given(aFeature({ name: 'reviewed', project: 'guarded' }));
  await features.call(SetProtection, {
    body: { project: 'guarded', ...production, isProtected: true, version: 3 },
  });
  await features.clearOutbox();
  const mover = callerWith({ permission: 'MOVE_FEATURE_TOGGLE' });
  await expect(move('reviewed', 'garage', mover, 'guarded')).rejects.toMatchObject({
    kind: 'ForbiddenError',
    message: 'Changing project not allowed. Project guarded has change requests enabled.',
  });
  expect((await features.get('reviewed', mia, 'guarded')).project).toBe('guarded');
  const skipper = callerWith(
    { permission: 'MOVE_FEATURE_TOGGLE' },
    { permission: 'SKIP_CHANGE_REQUEST', project: 'guarded', ...production },
  );
  await move('reviewed', 'garage', skipper, 'guarded');
  expect(await features.emittedEvents()).toMatchObject([
    { type: 'feature-project-change', project: 'garage', data: { oldProject: 'guarded', bypassedChangeRequest: true } },
  ]);
});

it('moves a feature to another project, with an event in the new one', async () => {
  await move('free', 'garage');
  await move('free', 'garage', mia, 'garage');
  expect(await features.emittedEvents()).toMatchObject([
    {
      type: 'feature-project-change',
      project: 'garage',
      featureName: 'free',
      data: { oldProject: 'shop', newProject: 'garage' },
    },
  ]);
  expect(await features.get('free', mia, 'garage')).toMatchObject({ project: 'garage' });
  expect((await features.lastState('free'))?.project).toBe('garage');
});
