import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { type JsonPatch, PatchFeature, UpdateFeature, type UpdateFeatureBody } from '@bunting/contracts';
import { aFeature } from '../../test/builders.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
});
afterAll(() => features.stop());

let featureName: string;
let nth = 0;
beforeEach(async () => {
  featureName = `feature-${(nth += 1)}`;
  await features.given(
    aFeature({ name: featureName, project: 'default', description: 'Pays', type: 'experiment', impressionData: true }),
  );
  await features.clearOutbox();
});

const put = (body: UpdateFeatureBody, caller = mia, projectId = 'default') =>
  features.call(UpdateFeature, { params: { projectId, featureName }, body }, caller);
const patch = (body: JsonPatch, caller = mia, projectId = 'default') =>
  features.call(PatchFeature, { params: { projectId, featureName }, body }, caller);
const types = async () => (await features.emittedEvents()).map(({ type }) => type);

it('updates the given properties of a feature, keeps the others, and emits both contents', async () => {
  expect(await put({ name: featureName, description: 'Pays later', archived: true })).toMatchObject({
    name: featureName,
    description: 'Pays later',
    type: 'experiment',
    impressionData: true,
    archived: false,
  });
  expect(await features.get(featureName)).toMatchObject({ description: 'Pays later', type: 'experiment' });
  expect(await features.emittedEvents()).toMatchObject([
    {
      type: 'feature-metadata-updated',
      project: 'default',
      featureName,
      environment: null,
      preData: { description: 'Pays' },
      data: { description: 'Pays later' },
    },
  ]);
  await put({ stale: true });
  await put({ stale: true });
  expect(await types()).toEqual(['feature-metadata-updated', 'feature-metadata-updated']);
});

it('does not revive an archived feature by an update', async () => {
  await features.given(aFeature({ name: 'old', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
  featureName = 'old';
  expect(await put({ archived: false, type: 'release' })).toMatchObject({ archived: true });
});

it('refuses to rename a feature, and finds it only in its own project', async () => {
  await expect(put({ name: 'other' })).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
  await expect(put({}, mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(patch([], mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  for (const write of [() => put({}, lee), () => patch([], lee)]) {
    await expect(write()).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE'] });
  }
});

it('patches a feature, with the event of the stale mark last', async () => {
  const reply = await patch([
    { op: 'replace', path: '/stale', value: true },
    { op: 'remove', path: '/description' },
    { op: 'replace', path: '/name', value: 'other' },
    { op: 'replace', path: '/archived', value: true },
    { op: 'add', path: '/tags', value: [] },
  ]);
  expect(reply).toMatchObject({ name: featureName, stale: true, description: null, archived: false });
  expect(await types()).toEqual(['feature-metadata-updated', 'feature-stale-on']);
  await patch([{ op: 'replace', path: '/stale', value: true }]);
  await patch([{ op: 'replace', path: '/stale', value: false }]);
  expect((await types()).slice(2)).toEqual(['feature-metadata-updated', 'feature-stale-off']);
});

it.each<[object, JsonPatch]>([
  [{ kind: 'ValidationError', message: /\/type/ }, [{ op: 'replace', path: '/type', value: 'magic' }]],
  [{ kind: 'ValidationError', message: /\/stale/ }, [{ op: 'replace', path: '/stale', value: 'yes' }]],
  [{ kind: 'ValidationError' }, [{ op: 'replace', path: '/description/deep', value: 'x' }]],
  [{ kind: 'ValidationError' }, [{ op: 'add', path: '/__proto__/polluted', value: true }]],
  [{ kind: 'ValidationError' }, [{ op: 'add', path: '/constructor/polluted', value: true }]],
  [{ kind: 'OperationDeniedError' }, [{ op: 'replace', path: '/variants', value: [] }]],
])('refuses with %j the patch %j, and stores nothing', async (refused, body) => {
  await expect(patch(body)).rejects.toMatchObject(refused);
  expect(await features.emittedEvents()).toEqual([]);
});

it('keeps the edits of twenty concurrent writers of different members', async () => {
  await Promise.all([
    ...Array.from({ length: 18 }, (_, n) => patch([{ op: 'replace', path: '/description', value: `${n}` }])),
    patch([{ op: 'replace', path: '/type', value: 'kill-switch' }]),
    put({ impressionData: false }),
  ]);
  expect(await features.get(featureName)).toMatchObject({ type: 'kill-switch', impressionData: false });
});
