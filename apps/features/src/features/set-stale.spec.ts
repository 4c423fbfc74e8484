import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CreateProject, SetStale } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  const foreign = aFeature({ name: 'foreign', project: 'default' });
  await features.given(aFeature({ name: 'one' }), aFeature({ name: 'two', stale: true }), foreign);
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const mark = (names: string[], stale: boolean, caller = mia) =>
  features.call(SetStale, { params: { projectId: 'shop' }, body: { features: names, stale } }, caller);

it('marks features as stale or not, with events for changes, and ignores unknown names', async () => {
  await mark(['one', 'two', 'unknown'], true);
  expect(await features.get('one', mia, 'shop')).toMatchObject({ stale: true });
  await mark(['one'], false);
  expect((await features.emittedEvents()).map(({ type, featureName }) => [type, featureName])).toEqual([
    ['feature-stale-on', 'one'],
    ['feature-stale-off', 'one'],
  ]);
});

it('marks all features as stale or none, only in the project and with the permission', async () => {
  await expect(mark(['one', 'foreign'], true)).rejects.toMatchObject({ kind: 'InvalidOperationError' });
  await expect(mark(['one'], true, lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
  expect(await features.emittedEvents()).toEqual([]);
});
