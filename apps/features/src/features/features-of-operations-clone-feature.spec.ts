import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CloneFeature, CreateProject, SetProtection, ValidateFeatureName } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
  await features.given(
    aFeature({ name: 'parent' }),
    aFeature({
      name: 'source',
      type: 'experiment',
      description: 'Pays',
      enabled: true,
      tags: [{ type: 'simple', value: 'a' }],
      dependencies: [{ feature: 'parent', enabled: true, variants: [] }],
      strategies: [
        aStrategy({ id: 'a', name: 'flexibleRollout', parameters: { rollout: '5', groupId: 'source' } }),
        aStrategy({ id: 'b', sortOrder: 1 }),
      ],
    }),
  );
});
afterAll(() => features.stop());
beforeEach(() => features.clearOutbox());

const clone = (name: string, more: object = {}, caller = mia, featureName = 'source') =>
  features.call(CloneFeature, { params: { projectId: 'shop', featureName }, body: { name, ...more } }, caller);
const validate = (name: string, projectId: string | null = null) =>
  features.call(ValidateFeatureName, { body: { name, projectId } }, lee);

it('clones a feature disabled and without tags, with all events', async () => {
  expect(await clone('copy')).toMatchObject({ name: 'copy', type: 'experiment', description: 'Pays' });
  const copy = await features.get('copy', mia, 'shop');
  expect(copy).toMatchObject({ enabled: false, tags: [], dependencies: [{ feature: 'parent' }] });
  const strategies = copy.environments?.[0]?.strategies ?? [];
  expect(strategies.map(({ parameters }) => parameters?.['groupId'])).toEqual(['copy', undefined]);
  expect(strategies.some(({ id }) => id === 'a' || id === 'b')).toBe(false);
  expect((await features.emittedEvents()).map(({ type, environment }) => [type, environment])).toEqual([
    ['feature-created', null],
    ['feature-strategy-add', 'development'],
    ['feature-strategy-add', 'development'],
    ['feature-dependency-added', null],
  ]);
  expect((await features.get('parent', mia, 'shop')).children).toEqual(['copy', 'source']);
});

it('refuses to clone an archived feature, whose segments may be deleted', async () => {
  await features.given(aFeature({ name: 'asleep', archivedAt: '2026-01-02T00:00:00.000Z' }));
  await expect(clone('awake', {}, mia, 'asleep')).rejects.toMatchObject({ kind: 'ArchivedFeatureError' });
});

it('keeps the groupId of cloned strategies if the request demands it', async () => {
  await clone('twin', { replaceGroupId: false });
  const [strategy] = (await features.get('twin', mia, 'shop')).environments?.[0]?.strategies ?? [];
  expect(strategy?.parameters).toMatchObject({ groupId: 'source' });
});

it('refuses to clone under an invalid or taken name, from an unknown feature, and without CREATE_FEATURE', async () => {
  await expect(clone('parent')).rejects.toMatchObject({ kind: 'NameExistsError' });
  await expect(clone('a b')).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
  await expect(clone('new', {}, mia, 'unknown')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(clone('new', {}, lee)).rejects.toMatchObject({ permissions: ['CREATE_FEATURE'] });
  expect(await features.emittedEvents()).toEqual([]);
});

it('refuses to clone strategies into a protected project without SKIP_CHANGE_REQUEST', async () => {
  const protect = (isProtected: boolean, version: number) =>
    features.call(SetProtection, { body: { project: 'shop', environment: 'production', isProtected, version } });
  await protect(true, 1);
  await expect(clone('sneaky', {}, callerWith({ permission: 'CREATE_FEATURE' }))).rejects.toMatchObject({
    kind: 'ForbiddenError',
    message: 'Cloning not allowed. Project shop has change requests enabled.',
  });
  await clone('allowed', {}, callerWith({ permission: 'CREATE_FEATURE' }, { permission: 'SKIP_CHANGE_REQUEST' }));
  await protect(false, 2);
});

it('validates a name for a feature', async () => {
  await features.call(CreateProject, { body: { id: 'strict', name: 'strict' } });
  await features.database.transaction(({ query }) =>
    query(`update project set feature_naming = '{"pattern": "s-[a-z]+"}' where id = 'strict'`),
  );
  await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
  expect(await validate('free')).toBeNull();
  expect(await validate('free', 'moon')).toBeNull();
  expect(await validate('s-free', 'strict')).toBeNull();
  await expect(validate('free', 'strict')).rejects.toMatchObject({ kind: 'PatternError' });
  await expect(validate('a/b')).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
  await expect(validate('parent')).rejects.toMatchObject({ message: 'A flag with that name already exists' });
  await expect(validate('old')).rejects.toMatchObject({ message: 'An archived flag with that name already exists' });
});
