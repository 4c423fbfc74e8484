import { CreateProject, DisableFeature, DisableFeatures, EnableFeature, EnableFeatures } from '@bunting/contracts';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { callerWith, lee, mia, useFeatures } from '../../test/started-features.ts';

describe('switching a feature', () => {
  const features = useFeatures();
  beforeEach(() => features.clearOutbox());

  const at = (featureName: string, environment = 'development') => ({ projectId: 'default', featureName, environment });
  const enable = (featureName: string, caller = mia, shouldActivateDisabledStrategies = false) =>
    features.call(EnableFeature, { params: at(featureName), query: { shouldActivateDisabledStrategies } }, caller);
  const disable = (featureName: string, caller = mia) =>
    features.call(DisableFeature, { params: at(featureName) }, caller);
  const types = async () => (await features.emittedEvents()).map(({ type }) => type);

  it('enabling adds the default strategy to a feature without strategies, and switches it, with events', async () => {
    await features.create('lamp');
    await features.clearOutbox();
    await enable('lamp');
    await enable('lamp');
    expect((await features.get('lamp')).environments?.[0]).toMatchObject({
      enabled: true,
      strategies: [{ name: 'flexibleRollout', parameters: { rollout: '100', stickiness: 'default', groupId: 'lamp' } }],
    });
    await disable('lamp');
    await disable('lamp');
    expect(await types()).toEqual([
      'feature-strategy-add',
      'feature-environment-enabled',
      'feature-environment-disabled',
    ]);
    expect((await features.lastState('lamp'))?.environments[0]).toMatchObject({ enabled: false, hasStrategies: true });
  });

  it('enabling adds the default strategy of the project with its segments and context fields', async () => {
    const constraint = { contextName: 'appName', operator: 'IN', values: ['web'] };
    await features.database.transaction(async ({ query }) => {
      const [segment] = await query<{ id: number }>(
        `insert into segment (name, constraints, created_by, created_at) values ('beta', '[]', 'mia', now()) returning id`,
      );
      const strategy = {
        name: 'flexibleRollout',
        parameters: { rollout: '5' },
        constraints: [constraint],
        segments: [segment?.id],
      };
      await query(`update project_environment set default_strategy = $1 where environment = 'production'`, [
        JSON.stringify(strategy),
      ]);
    });
    await features.create('careful');
    await features.call(EnableFeature, { params: at('careful', 'production') });
    const [strategy] = (await features.get('careful')).environments?.[1]?.strategies ?? [];
    expect(strategy).toMatchObject({ parameters: { rollout: '5', groupId: 'careful' }, constraints: [constraint] });
    expect(strategy?.segments).toHaveLength(1);
  });

  it('enabling enables all disabled strategies if the query demands it', async () => {
    const strategies = [aStrategy({ id: 'a', disabled: true }), aStrategy({ id: 'b', disabled: true, sortOrder: 1 })];
    await features.given(aFeature({ name: 'sleeper', project: 'default', strategies }));
    await enable('sleeper', mia, true);
    expect(await types()).toEqual([
      'feature-strategy-update',
      'feature-strategy-update',
      'feature-environment-enabled',
    ]);
  });

  it('refuses to enable an archived or unknown feature, or in an environment that the project does not have', async () => {
    await features.given(aFeature({ name: 'old', project: 'default', archivedAt: '2026-01-02T00:00:00.000Z' }));
    for (const operation of [EnableFeature, DisableFeature]) {
      await expect(features.call(operation, { params: at('old') })).rejects.toMatchObject({
        kind: 'ArchivedFeatureError',
      });
      await expect(features.call(operation, { params: at('lamp', 'moon') })).rejects.toMatchObject({
        kind: 'NotFoundError',
        message: 'Could not find environment moon for feature: lamp',
      });
      await expect(features.call(operation, { params: at('unknown') })).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
    }
  });

  it('enabling takes the permission to switch, and to add strategies if it adds the first', async () => {
    await features.create('guarded');
    const switcher = callerWith({ permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' });
    await expect(enable('guarded', switcher)).rejects.toMatchObject({
      kind: 'NoAccessError',
      permissions: ['CREATE_FEATURE_STRATEGY'],
    });
    await expect(enable('guarded', lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_ENVIRONMENT'] });
    await expect(disable('guarded', lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_ENVIRONMENT'] });
    await enable('lamp', switcher);
    await disable('lamp', switcher);
  });
});

describe('switching several features', () => {
  const features = useFeatures();
  beforeAll(async () => {
    await features.call(CreateProject, { body: { id: 'shop', name: 'shop' } });
    await features.given(aFeature({ name: 'foreign', project: 'default' }));
    await features.given(aFeature({ name: 'old', archivedAt: '2026-01-02T00:00:00.000Z' }));
  });

  let nth = 0;
  let [empty, sleeper, awake] = ['', '', ''];
  beforeEach(async () => {
    nth += 1;
    [empty, sleeper, awake] = [`empty-${nth}`, `sleeper-${nth}`, `awake-${nth}`];
    await features.given(
      aFeature({ name: empty }),
      aFeature({ name: sleeper, strategies: [aStrategy({ id: sleeper, disabled: true })] }),
      aFeature({ name: awake, enabled: true, strategies: [aStrategy({ id: awake })] }),
    );
    await features.clearOutbox();
  });

  const at = (environment = 'development') => ({ projectId: 'shop', environment });
  const enable = (names: string[], { activate = false, caller = mia, params = at() } = {}) => {
    const query = { shouldActivateDisabledStrategies: activate };
    return features.call(EnableFeatures, { params, query, body: { features: names } }, caller);
  };
  const disable = (names: string[], caller = mia, params = at()) =>
    features.call(DisableFeatures, { params, body: { features: names } }, caller);
  const emitted = async () => (await features.emittedEvents()).map(({ type, featureName }) => [type, featureName]);

  it('enables features in bulk with an active strategy each, and disables them, with events for changes only', async () => {
    await enable([sleeper, empty, awake]);
    expect(await emitted()).toEqual([
      ['feature-strategy-add', empty],
      ['feature-environment-enabled', empty],
      ['feature-strategy-add', sleeper],
      ['feature-environment-enabled', sleeper],
    ]);
    await features.clearOutbox();
    await disable([awake, empty, sleeper]);
    await disable([awake, empty, sleeper]);
    expect(await emitted()).toEqual([awake, empty, sleeper].map((name) => ['feature-environment-disabled', name]));
  });

  it('enables disabled strategies in bulk if the query demands it', async () => {
    await enable([sleeper], { activate: true });
    expect(await emitted()).toEqual([
      ['feature-strategy-update', sleeper],
      ['feature-environment-enabled', sleeper],
    ]);
  });

  it('switches all features of a bulk request or none', async () => {
    for (const [bad, kind] of [
      ['unknown', 'NotFoundError'],
      ['foreign', 'NotFoundError'],
      ['old', 'ArchivedFeatureError'],
    ] as const) {
      await expect(enable([empty, bad])).rejects.toMatchObject({ kind });
      await expect(disable([awake, bad])).rejects.toMatchObject({ kind });
    }
    await expect(enable([empty], { params: at('moon') })).rejects.toMatchObject({ kind: 'NotFoundError' });
    await expect(disable([awake], mia, at('moon'))).rejects.toMatchObject({ kind: 'NotFoundError' });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('switching in bulk takes the permission to switch, and to add strategies if a feature gets its first', async () => {
    const switcher = callerWith({ permission: 'UPDATE_FEATURE_ENVIRONMENT', environment: 'development' });
    await expect(enable([awake, empty], { caller: switcher })).rejects.toMatchObject({
      permissions: ['CREATE_FEATURE_STRATEGY'],
    });
    await expect(enable([awake], { caller: lee })).rejects.toMatchObject({
      permissions: ['UPDATE_FEATURE_ENVIRONMENT'],
    });
    await expect(disable([awake], lee)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_ENVIRONMENT'] });
    await disable([awake], switcher);
    await enable([awake], { caller: switcher });
  });
});
