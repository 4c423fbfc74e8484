import {
  AddFavoriteFeature,
  AddStrategy,
  ArchiveFeature,
  ArchiveFeatures,
  CreateContextField,
  CreateFeature,
  CreateProject,
  CreateSegment,
  DeleteContextField,
  DeleteFeature,
  DeleteFeatures,
  DeleteSegment,
  ListArchivedFeatures,
  ListArchivedFeaturesOfProject,
  PatchStrategy,
  ReviveFeature,
  ReviveFeatures,
  ValidateArchive,
} from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';

const features = useFeatures();
beforeAll(async () => {
  await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
});

describe('archived features', () => {
  let nth = 0;
  let [parent, child, other] = ['', '', ''];
  beforeEach(async () => {
    nth += 1;
    [parent, child, other] = [`parent-${nth}`, `child-${nth}`, `other-${nth}`];
    await features.given(
      aFeature({ name: parent, enabled: true, strategies: [aStrategy()] }),
      aFeature({ name: child, dependencies: [{ feature: parent, enabled: true, variants: [] }] }),
      aFeature({ name: other, project: 'default', tags: [{ type: 'simple', value: 'red' }] }),
    );
    await features.clearOutbox();
  });

  const params = { projectId: 'shop' };
  const archive = (names: string[], caller = mia) =>
    features.call(ArchiveFeatures, { params, body: { features: names } }, caller);
  const revive = (names: string[], caller = mia) =>
    features.call(ReviveFeatures, { params, body: { features: names } }, caller);
  const remove = (names: string[], caller = mia, projectId = 'shop') =>
    features.call(DeleteFeatures, { params: { projectId }, body: { features: names } }, caller);
  const validate = (names: string[], caller = mia) =>
    features.call(ValidateArchive, { params, body: { features: names } }, caller);
  const emitted = async () => (await features.emittedEvents()).map(({ type, featureName }) => [type, featureName]);
  const archived = async (projectId = 'shop') =>
    (await features.call(ListArchivedFeaturesOfProject, { params: { projectId } })).features.map(({ name }) => name);

  it('archives a parent together with its children, with one event each, and lists them', async () => {
    await archive([child, parent, 'unknown', child]);
    await archive([child, parent]);
    expect(await emitted()).toEqual([
      ['feature-dependencies-removed', child],
      ['feature-archived', child],
      ['feature-archived', parent],
    ]);
    expect(await archived()).toEqual(expect.arrayContaining([child, parent]));
    expect(await archived('default')).toEqual([]);
    const all = await features.call(ListArchivedFeatures, {});
    expect(all).toMatchObject({ version: 2 });
    expect(all.features.map(({ name }) => name)).toContain(child);
  });

  it('archives all of the named features or none', async () => {
    await expect(archive([parent])).rejects.toMatchObject({
      kind: 'InvalidOperationError',
      message: 'You can not archive/delete this feature since other features depend on it.',
    });
    await expect(archive([child, other])).rejects.toMatchObject({
      kind: 'InvalidOperationError',
      message: /\("default"\).*\("shop"\)/,
    });
    expect(await features.emittedEvents()).toEqual([]);
    expect((await features.get(child, mia, 'shop')).dependencies).toHaveLength(1);
  });

  it('validates archiving and reports the dependencies that prevent it', async () => {
    expect(await validate([parent, 'unknown', other])).toEqual({
      parentsWithChildFeatures: [parent],
      hasDeletedDependencies: true,
    });
    expect(await validate([parent, child])).toEqual({ parentsWithChildFeatures: [], hasDeletedDependencies: true });
  });

  it('revives features disabled and in their initial stage, with events for archived ones only', async () => {
    await archive([child, parent]);
    await features.clearOutbox();
    await revive([parent, 'unknown']);
    await features.call(ReviveFeature, { params: { featureName: parent } });
    expect(await emitted()).toEqual([['feature-revived', parent]]);
    const feature = await features.get(parent, mia, 'shop');
    expect(feature).toMatchObject({ enabled: false, lifecycle: { stage: 'initial' } });
    expect(feature.environments?.[0]?.strategies).toHaveLength(1);
    await features.call(ReviveFeature, { params: { featureName: child } });
    expect((await features.get(child, mia, 'shop')).dependencies).toEqual([]);
    expect((await features.lastState(child))?.archivedAt).toBeNull();
  });

  it('refuses to revive a feature that uses deleted objects, and names them', async () => {
    const { id } = await features.call(CreateSegment, { body: { name: 'young', constraints: [] } });
    await features.call(CreateContextField, { body: { name: 'floor' } });
    const lamp = `lamp-${nth}`;
    const at = { ...params, featureName: lamp };
    await features.call(CreateFeature, { params, body: { name: lamp } });
    const constraints = [{ contextName: 'floor', operator: 'IN' as const, values: ['1'] }];
    const body = { name: 'default', segments: [id], constraints };
    const strategy = await features.call(AddStrategy, { params: { ...at, environment: 'development' }, body });
    await archive([lamp]);
    await revive([lamp]);
    await archive([lamp]);
    await features.call(DeleteSegment, { params: { id } });
    await features.call(DeleteContextField, { params: { name: 'floor' } });
    const refusal = {
      kind: 'ConflictError',
      message: expect.stringContaining(
        `no longer exist, or that its project may not use: segment ${id} (strategy ${strategy.id} in development), context field floor (strategy ${strategy.id} in development). Take them out of the strategy, which can be edited while the feature is archived`,
      ),
    };
    await expect(revive([lamp])).rejects.toMatchObject(refusal);
    await expect(features.call(ReviveFeature, { params: { featureName: lamp } })).rejects.toMatchObject(refusal);
    expect(await archived()).toContain(lamp);
    const strategyId = strategy.id ?? '';
    const patch = ['/segments', '/constraints'].map((path) => ({ op: 'replace' as const, path, value: [] }));
    await features.call(PatchStrategy, { params: { ...at, environment: 'development', strategyId }, body: patch });
    await revive([lamp]);
    expect(await archived()).not.toContain(lamp);
  });

  it('refuses to revive a feature of an archived project', async () => {
    await features.call(CreateProject, { body: { id: `gone-${nth}`, name: 'gone' } });
    await features.given(
      aFeature({ name: `sunk-${nth}`, project: `gone-${nth}`, archivedAt: '2026-01-02T00:00:00.000Z' }),
    );
    await features.database.transaction(({ query }) =>
      query('update project set archived_at = now() where id = $1', [`gone-${nth}`]),
    );
    await expect(features.call(ReviveFeature, { params: { featureName: `sunk-${nth}` } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('deletes archived features, emits their last content, and frees their names', async () => {
    await features.call(AddFavoriteFeature, { params: { projectId: 'shop', featureName: child } });
    await archive([child]);
    await features.clearOutbox();
    await remove([child, parent, 'unknown']);
    expect(await emitted()).toEqual([['feature-deleted', child]]);
    expect((await features.emittedEvents())[0]).toMatchObject({
      project: 'shop',
      preData: { name: child, archived: true },
    });
    const deleted = (await features.states('feature')).at(-1);
    expect(deleted).toMatchObject({ id: child, state: null });
    await features.create(child);
    const created = (await features.states('feature')).findLast(({ id }) => id === child);
    expect(created?.state).not.toBeNull();
    expect(created?.version).toBeGreaterThan(deleted?.version ?? Infinity);
  });

  it('refuses to delete an active parent for good, in the words for archiving', async () => {
    await expect(remove([parent])).rejects.toMatchObject({
      kind: 'InvalidOperationError',
      message: 'You can not archive/delete this feature since other features depend on it.',
    });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('deletes an archived feature by name, and ignores an active one', async () => {
    await features.call(DeleteFeature, { params: { featureName: other } });
    expect(await features.emittedEvents()).toEqual([]);
    expect(await features.get(other)).toMatchObject({ name: other });
    const old = `old-${nth}`;
    const tags = [{ type: 'simple', value: 'red' }];
    await features.given(aFeature({ name: old, archivedAt: '2026-01-02T00:00:00.000Z', tags }));
    await features.call(DeleteFeature, { params: { featureName: old } });
    expect(await features.emittedEvents()).toMatchObject([{ type: 'feature-deleted', featureName: old, tags }]);
    for (const operation of [DeleteFeature, ReviveFeature]) {
      await expect(features.call(operation, { params: { featureName: old } })).rejects.toMatchObject({
        kind: 'NotFoundError',
        message: 'No feature flag found',
      });
    }
  });

  it('archives, revives and deletes only with the permissions for it', async () => {
    const elsewhere = callerWith(
      { permission: 'DELETE_FEATURE', project: 'default' },
      { permission: 'UPDATE_FEATURE', project: 'default' },
    );
    for (const caller of [lee, elsewhere]) {
      for (const refused of [
        () => archive([child], caller),
        () => remove([child], caller),
        () => revive([child], caller),
        () => validate([child], caller),
        () => features.call(DeleteFeature, { params: { featureName: child } }, caller),
        () => features.call(ReviveFeature, { params: { featureName: child } }, caller),
      ]) {
        await expect(refused()).rejects.toMatchObject({ kind: 'NoAccessError' });
      }
    }
  });
});

describe('archiving a feature', () => {
  beforeEach(() => features.clearOutbox());

  const archive = (featureName: string, caller = mia, projectId = 'shop') =>
    features.call(ArchiveFeature, { params: { projectId, featureName } }, caller);
  const dependingOn = (feature: string) => [{ feature, enabled: true, variants: [] }];

  it('archiving removes the dependencies of a feature, with events and the state of the former parent', async () => {
    await features.given(
      aFeature({ name: 'parent' }),
      aFeature({ name: 'child', dependencies: dependingOn('parent') }),
    );
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
});
