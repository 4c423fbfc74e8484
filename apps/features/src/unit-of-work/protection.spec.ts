import { CreateProject } from '@bunting/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type FeaturesWithoutLoops, featuresWithoutLoops } from '../../test/features-unit-of-work.ts';
import { lee, mia } from '../../test/started-features.ts';
import type { Feature } from '../features/feature.ts';
import { noReferences } from '../projects/project-context-store.ts';
import type { Transaction } from './unit-of-work.ts';

const project = 'reviewed';
const environment = 'development';
const enabled: Feature['environments'] = { [environment]: { enabled: true, strategies: [aStrategy()], variants: [] } };
const segment = { name: 'beta', description: null, project, constraints: [] };

let features: FeaturesWithoutLoops;
const transaction = <T>(job: (tx: Transaction) => Promise<T>, caller = lee): Promise<T> => {
  const now = new Date();
  return features.transaction({ caller, now, deadline: new Date(now.getTime() + 60_000), traceparent: '' }, job);
};
const locked = (tx: Transaction): Promise<Feature> =>
  tx.features.getForUpdate(project, 'stored', noReferences).then(({ feature }) => feature);

beforeAll(async () => {
  features = await featuresWithoutLoops();
  await features.call(CreateProject, { body: { id: project, name: 'Reviewed' } });
  await transaction(async (tx) => {
    await tx.features.add([aFeature({ name: 'stored', project })], []);
    await tx.protectionCopy.setIfNewer({ project, environment, isProtected: true, version: 1 });
  });
});
afterAll(() => features.stop());

const noAccess = { kind: 'NoAccessError', permissions: ['SKIP_CHANGE_REQUEST'] };

it.each<[string, (tx: Transaction) => Promise<unknown>, object]>([
  [
    'adding a feature with settings',
    ({ features: { add } }) => add([aFeature({ project, environments: enabled })], []),
    noAccess,
  ],
  [
    'changing its settings',
    async (tx) => tx.features.save([{ ...(await locked(tx)), environments: enabled }], []),
    noAccess,
  ],
  ['removing it while it is active', async (tx) => tx.features.remove([await locked(tx)], []), noAccess],
  [
    'moving it',
    async (tx) => tx.features.save([{ ...(await locked(tx)), project: 'default' }], []),
    { kind: 'ForbiddenError' },
  ],
  ['disconnecting the environment', ({ projects }) => projects.disconnect(project, environment, []), noAccess],
])('refuses %s in a protected environment, whichever operation does it', async (_, write, refused) => {
  await expect(transaction(write)).rejects.toMatchObject(refused);
});

it('refuses to change or remove a segment of a protected project, whichever operation does it', async () => {
  const origin = { createdBy: 'mia', createdAt: '2026-01-01T00:00:00.000Z' };
  const stored = await transaction(({ segments }) => segments.add(segment, origin, () => []), mia);
  for (const write of [
    ({ segments }: Transaction) => segments.save(stored, { ...stored, name: 'renamed' }, []),
    ({ segments }: Transaction) => segments.save({ ...stored, project: null }, stored, []),
    ({ segments }: Transaction) => segments.remove(stored, []),
  ])
    await expect(transaction(write)).rejects.toMatchObject(noAccess);
});
