import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  CloneEnvironment,
  type CloneEnvironmentBody,
  CreateProject,
  GetFeature,
  GetProjectOverview,
  ListEnvironments,
  refusal,
  SetDefaultStrategy,
  SetProtection,
} from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { lee, mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  for (const id of ['shop', 'bank']) await features.call(CreateProject, { body: { id, name: id } });
});
afterAll(() => features.stop());
beforeEach(async () => {
  await features.database.transaction(({ query }) => query('truncate feature cascade'));
  await features.database.transaction(({ query }) => query("delete from environment where name = 'lab'"));
  await features.clearOutbox();
});

const clone = (body: Partial<CloneEnvironmentBody> = {}, caller = mia, name = 'development') =>
  features.call(CloneEnvironment, { params: { name }, body: { name: 'lab', ...body } }, caller);
const variant = { name: 'red', weight: 1000, weightType: 'variable' as const, stickiness: 'default' };
const read = (featureName: string, projectId = 'shop') =>
  features.call(GetFeature, { params: { projectId, featureName }, query: { variantEnvironments: 'true' } });
const inLab = async (name: string, projectId?: string) =>
  (await read(name, projectId)).environments?.find((environment) => environment.name === 'lab');

it('clones strategies, variants and switches of the named projects, with new ids of strategies', async () => {
  const strategies = [
    aStrategy({ id: 's1', title: 'Everyone' }),
    aStrategy({ id: 's2', sortOrder: 1, disabled: true }),
  ];
  await features.given(
    aFeature({ environments: { development: { enabled: true, strategies, variants: [variant] } } }),
    aFeature({ name: 'empty' }),
    aFeature({ name: 'elsewhere', project: 'bank', enabled: true }),
  );
  const at = { projectId: 'shop', environment: 'development' };
  const body = { name: 'flexibleRollout', parameters: { rollout: '5', stickiness: 'default', groupId: 'g' } };
  await features.call(SetDefaultStrategy, { params: at, body });
  const reply = await clone({ type: 'test', projects: ['shop'] });
  expect(reply).toMatchObject({ name: 'lab', type: 'test', enabled: true, protected: false });
  expect(reply).toMatchObject({ projectCount: 1, enabledToggleCount: 1 });

  const lab = await inLab('checkout');
  expect(lab).toMatchObject({ enabled: true, variants: [{ name: 'red' }] });
  expect(lab?.strategies).toMatchObject([{ title: 'Everyone' }, { disabled: true }]);
  expect(lab?.strategies?.map(({ id }) => id)).not.toEqual(expect.arrayContaining(['s1']));
  expect((await read('checkout')).environments?.[0]).toMatchObject({
    name: 'development',
    strategies: [{ id: 's1' }, {}],
  });
  expect(await inLab('empty')).toMatchObject({ enabled: false, strategies: [] });
  expect((await features.lastState('empty'))?.environments.map(({ name }) => name)).toContain('lab');
  expect(await inLab('elsewhere', 'bank')).toBeUndefined();
  const { environments } = await features.call(GetProjectOverview, { params: { projectId: 'shop' } });
  expect(environments.find(({ environment }) => environment === 'lab')).toMatchObject({ defaultStrategy: body });
});

it('clones an environment for all projects that have it if none is named', async () => {
  await features.given(aFeature({ enabled: true }), aFeature({ name: 'elsewhere', project: 'bank', enabled: true }));
  expect(await clone()).toMatchObject({ type: 'development', projectCount: 3, enabledToggleCount: 2 });
  expect(await inLab('elsewhere', 'bank')).toMatchObject({ enabled: true });
});

it('refuses invalid clones of an environment and callers other than administrators', async () => {
  await expect(clone({ name: 'production' })).rejects.toMatchObject({ kind: 'NameExistsError' });
  await expect(clone({ name: 'a b' })).rejects.toMatchObject({ kind: 'ValidationError' });
  await expect(clone({}, mia, 'moon')).rejects.toMatchObject({ kind: 'NotFoundError' });
  await expect(clone({ projects: ['shop', 'moon'] })).rejects.toMatchObject({ message: /`\/body\/projects\/1`/ });
  await expect(clone({}, lee)).rejects.toMatchObject({ kind: 'NoAccessError' });
  expect(await features.emittedEvents()).toEqual([]);
  const { environments } = await features.call(ListEnvironments, {});
  expect(environments.map(({ name }) => name)).toEqual(['development', 'production']);
});

it('marks the events of a clone into a protected environment as bypassing change requests', async () => {
  await features.given(aFeature({ enabled: true }));
  const isProtected = true;
  await features.call(SetProtection, { body: { project: 'shop', environment: 'lab', isProtected, version: 1 } });
  await clone({ projects: ['shop'] });
  expect((await features.emittedEvents()).at(-1)).toMatchObject({
    type: 'feature-environment-enabled',
    data: { bypassedChangeRequest: true },
  });
});

it('copies permissions when a clone is retried after an outage of the gateway, without cloning again', async () => {
  let isAway = true;
  const copied: object[] = [];
  const copy = async (environments: object): Promise<void> => {
    if (isAway) throw refusal('ServiceUnavailable', 'The gateway is away.');
    copied.push(environments);
  };
  const started = await startFeatures({}, undefined, copy);
  try {
    const input = { params: { name: 'development' }, body: { name: 'lab' } };
    const request = () => started.call(CloneEnvironment, input, mia, { idempotencyKey: 'clone-lab' });
    await expect(request()).rejects.toMatchObject({ kind: 'ServiceUnavailable' });
    isAway = false;
    expect(await request()).toMatchObject({ name: 'lab', projectCount: 1 });
    expect(copied).toEqual([{ from: 'development', to: 'lab' }]);
    const { environments } = await started.call(ListEnvironments, {});
    expect(environments.map(({ name }) => name)).toEqual(['development', 'production', 'lab']);
    const created = (await started.emittedEvents()).filter(({ type }) => type === 'environment-created');
    expect(created).toHaveLength(1);
  } finally {
    await started.stop();
  }
});
