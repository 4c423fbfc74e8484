import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { ArchiveFeature, CreateProject } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const archive = (featureName: string, caller = mia, projectId = 'shop') =>
  features.call(ArchiveFeature, { params: { projectId, featureName } }, caller);
const dependingOn = (feature: string) => [{ feature, enabled: true, variants: [] }];

it('archiving removes the dependencies of a feature, with events and the state of the former parent', async () => {
  await features.given(aFeature({ name: 'parent' }), aFeature({ name: 'child', dependencies: dependingOn('parent') }));
  await archive('child');
  expect((await features.emittedEvents()).map(({ type, featureName }) => [type, featureName])).toEqual([
    ['feature-dependencies-removed', 'child'],
    ['feature-archived', 'child'],
  ]);
  const states = await features.states('feature');
  expect(states.map(({ id, state }) => [id, state?.dependencyType])).toEqual([
    ['child', null],
    ['parent', null],
  ]);
  expect(states[0]?.state).toMatchObject({ lifecycle: { stage: 'archived' } });
  expect(states[0]?.state?.archivedAt).toMatch(/Z$/);
  await expect(features.get('child', mia, 'shop')).rejects.toMatchObject({ kind: 'NotFoundError' });
});

it('refuses to archive a feature that active features depend on', async () => {
  await features.given(
    aFeature({ name: 'mother' }),
    aFeature({ name: 'daughter', dependencies: dependingOn('mother') }),
  );
  await expect(archive('mother')).rejects.toMatchObject({
    kind: 'InvalidOperationError',
    message: 'You can not archive/delete this feature since other features depend on it.',
  });
  expect(await features.emittedEvents()).toEqual([]);
  await archive('daughter');
  await archive('mother');
});

it('replies as before to archiving an archived feature, without events', async () => {
  await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
  await archive('old');
  expect(await features.emittedEvents()).toEqual([]);
  expect(await features.states('feature')).toEqual([]);
});

it('archives a feature only in its own project and with DELETE_FEATURE', async () => {
  await features.given(aFeature({ name: 'here' }));
  await expect(archive('unknown')).rejects.toMatchObject({ kind: 'NotFoundError', message: 'No feature flag found' });
  await expect(archive('here', mia, 'default')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(archive('here', lee)).rejects.toMatchObject({
    kind: 'NoAccessError',
    permissions: ['DELETE_FEATURE'],
  });
  expect((await features.get('here', mia, 'shop')).archived).toBe(false);
});
