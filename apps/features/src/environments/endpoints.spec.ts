import {
  AddProjectEnvironment,
  CloneEnvironment,
  type CloneEnvironmentBody,
  CreateEnvironment,
  CreateProject,
  DeleteEnvironment,
  DisableFeature,
  EnableFeature,
  GetEnvironment,
  GetFeature,
  GetProjectOverview,
  ListEnvironmentNames,
  ListEnvironments,
  ListEnvironmentSettingsOfProject,
  ListEnvironmentsOfProject,
  refusal,
  RemoveProjectEnvironment,
  SetDefaultStrategy,
  SetEnvironmentOrder,
  SetProtection,
  SwitchEnvironmentOff,
  SwitchEnvironmentOn,
  UpdateEnvironment,
  ValidateEnvironmentName,
} from '@bunting/contracts';
import { parse } from '@bunting/contracts/validation';
import { eventually } from '@bunting/testing';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { rowsRead } from '../../test/features-unit-of-work.ts';
import { callerWith, lee, mia, startFeatures, useFeatures } from '../../test/started-features.ts';
import { environmentReader } from './environment-store.ts';

describe('environments', () => {
  const features = useFeatures();
  beforeAll(async () => {
    const environments = { production: { enabled: true, strategies: [aStrategy()], variants: [] } };
    await features.given(aFeature({ project: 'default', environments }));
  });
  beforeEach(() => features.clearOutbox());

  const emitted = async () =>
    (await features.emittedEvents()).map(({ type, environment, data, preData }) => ({
      type,
      environment,
      data,
      preData,
    }));
  const namesNow = async () => (await features.call(ListEnvironments, {})).environments.map(({ name }) => name);

  it('counts the uses of environments, also for a project', async () => {
    const { environments } = await features.call(ListEnvironments, {});
    expect(environments).toMatchObject([
      {
        name: 'development',
        projectCount: 1,
        apiTokenCount: 0,
        enabledToggleCount: 0,
        protected: false,
        enabled: true,
      },
      { name: 'production', projectCount: 1, apiTokenCount: 1, enabledToggleCount: 1 },
    ]);
    expect(await features.call(ListEnvironmentNames, {})).toEqual({ names: ['development', 'production'] });
    expect(await features.call(GetEnvironment, { params: { name: 'production' } })).toEqual(environments[1]);
    const ofProject = await features.call(ListEnvironmentsOfProject, { params: { projectId: 'default' } });
    expect(ofProject.environments).toMatchObject([
      { name: 'development', projectApiTokenCount: 0, projectEnabledToggleCount: 0, visible: true },
      { name: 'production', projectApiTokenCount: 1, projectEnabledToggleCount: 1, visible: true },
    ]);
    await expect(features.call(ListEnvironmentsOfProject, { params: { projectId: 'moon' } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
  });

  it('reads each feature once to count its uses, however many environments there are', async () => {
    expect(await rowsRead(features.database, 'feature', (read) => environmentReader(read).all([], []))).toBe(1);
    expect(
      await rowsRead(features.database, 'feature', (read) => environmentReader(read).ofProject('default', [])),
    ).toBe(1);
  });

  it('reads the connections to projects together, however many environments there are', async () => {
    let scans = 0;
    const undone = new Error('Nothing of this stays.');
    const tried = features.database.transaction(async ({ query }) => {
      await query(`insert into environment (name, type, sort_order, enabled)
        select 'more-' || n, 'test', 100 + n, true from generate_series(1, 30) as n`);
      const read = async ({ text }: { readonly text: string }) => {
        const statement = text.replaceAll('$1', "'{}'").replaceAll('$2', "'[]'");
        const explained = await query<object>(`explain (analyze, format json) ${statement}`);
        for (const [node] of JSON.stringify(explained).matchAll(/\{[^{}]*"Relation Name":"project_environment"[^{}]*/g))
          scans += Number(/"Actual Loops":(\d+)/.exec(node)?.[1]);
        return [{ json: '{}' }] as never[];
      };
      await environmentReader({ read }).all([], []);
      throw undone;
    });
    await expect(tried).rejects.toBe(undone);
    expect(scans).toBe(1);
  });

  it('creates, reorders, switches and deletes an environment, with events', async () => {
    const params = { name: 'staging' };
    const body = { ...params, type: 'preproduction' };
    const shown = { ...body, sortOrder: 4, enabled: true, protected: false };
    const created = { ...shown, requiredApprovals: null, color: null };
    expect(await features.call(CreateEnvironment, { body })).toMatchObject(shown);
    await expect(features.call(CreateEnvironment, { body })).rejects.toMatchObject({ kind: 'NameExistsError' });
    for (let nth = 0; nth < 2; nth++) {
      expect(await features.call(UpdateEnvironment, { params, body: { type: 'test' } })).toMatchObject({
        type: 'test',
      });
      await features.call(SetEnvironmentOrder, { body: { staging: 1, production: 3 } });
    }
    expect(await namesNow()).toEqual(['staging', 'development', 'production']);
    await features.call(SwitchEnvironmentOff, { params });
    expect(await features.call(GetEnvironment, { params })).toMatchObject({ enabled: false });
    await features.call(SwitchEnvironmentOn, { params });
    expect(await features.call(GetEnvironment, { params })).toMatchObject({ enabled: true });
    await features.call(DeleteEnvironment, { params });
    const typed = { ...created, type: 'test' };
    const moved = { ...typed, sortOrder: 1 };
    const environment = 'staging';
    expect(await emitted()).toEqual([
      { type: 'environment-created', environment, data: created, preData: null },
      { type: 'environment-updated', environment, data: typed, preData: created },
      { type: 'environment-updated', environment, data: moved, preData: typed },
      { type: 'environment-deleted', environment, data: null, preData: moved },
    ]);
  });

  it('stores the required approvals of an environment until they are changed', async () => {
    const params = { name: 'audited' };
    const body = { ...params, type: 'production', requiredApprovals: 3 };
    expect(await features.call(CreateEnvironment, { body })).toMatchObject({ requiredApprovals: 3 });
    expect(await features.call(UpdateEnvironment, { params, body: { type: 'test' } })).toMatchObject({
      requiredApprovals: 3,
    });
    const change = (requiredApprovals: number | null) =>
      features.call(UpdateEnvironment, { params, body: { requiredApprovals } });
    expect(await change(10)).toMatchObject({ requiredApprovals: 10 });
    const project = { projectId: 'default' };
    await features.call(AddProjectEnvironment, { params: project, body: { environment: 'audited' } });
    const { environments } = await features.call(ListEnvironmentSettingsOfProject, { params: project });
    expect(environments.map(({ name, requiredApprovals }) => [name, requiredApprovals])).toEqual(
      expect.arrayContaining([
        ['audited', 10],
        ['production', null],
      ]),
    );
    expect(await change(null)).not.toHaveProperty('requiredApprovals');
    for (const wrong of [0, 11, 1.5]) {
      expect(() => parse(UpdateEnvironment.body, { requiredApprovals: wrong }, '/body')).toThrow('requiredApprovals');
    }
    await features.call(RemoveProjectEnvironment, { params: { ...project, environment: 'audited' } });
    await features.call(DeleteEnvironment, { params });
  });

  it('stores the colour of an environment, and keeps it through other edits', async () => {
    const params = { name: 'blue-green' };
    const body = { ...params, type: 'production' };
    expect(await features.call(CreateEnvironment, { body })).not.toHaveProperty('color');
    expect(await features.call(UpdateEnvironment, { params, body: { color: 'teal' } })).toMatchObject({
      color: 'teal',
    });
    await features.call(UpdateEnvironment, { params, body: { type: 'test' } });
    const { environments } = await features.call(ListEnvironments, {});
    expect(environments.find(({ name }) => name === 'blue-green')).toMatchObject({ type: 'test', color: 'teal' });
    expect(environments.find(({ name }) => name === 'production')).not.toHaveProperty('color');
    const clone = await features.call(CloneEnvironment, { params, body: { name: 'clone', projects: [] } });
    expect(clone).not.toHaveProperty('color');
    expect(await features.call(UpdateEnvironment, { params, body: { color: null } })).not.toHaveProperty('color');
    for (const wrong of ['#ff0000', 'Red', ''])
      expect(() => parse(UpdateEnvironment.body, { color: wrong }, '/body')).toThrow('color');
    for (const name of ['clone', 'blue-green']) await features.call(DeleteEnvironment, { params: { name } });
  });

  it('emits the states of features when one of their environments is reordered', async () => {
    await features.call(SetEnvironmentOrder, { body: { development: 20 } });
    const state = await features.lastState('checkout');
    expect(state?.environments.map(({ name, sortOrder }) => [name, sortOrder])).toEqual([
      ['production', 3],
      ['development', 20],
    ]);
    await features.call(SetEnvironmentOrder, { body: { development: 2 } });
  });

  it('deletes an environment with its settings, unless features are on in it or it is protected', async () => {
    await features.call(CreateEnvironment, { body: { name: 'qa', type: 'test' } });
    const params = { name: 'qa' };
    await features.call(AddProjectEnvironment, { params: { projectId: 'default' }, body: { environment: 'qa' } });
    const inQa = { params: { projectId: 'default', environment: 'qa', featureName: 'checkout' } };
    await features.call(EnableFeature, inQa);
    await expect(features.call(DeleteEnvironment, { params })).rejects.toMatchObject({
      kind: 'ConflictError',
      message: /checkout \(project default\)/,
    });
    await features.call(DisableFeature, inQa);
    await features.call(DeleteEnvironment, { params });
    expect((await features.emittedEvents()).slice(-2)).toMatchObject([
      { type: 'project-environment-removed', project: 'default', environment: 'qa' },
      { type: 'environment-deleted', environment: 'qa' },
    ]);
    expect((await features.lastState('checkout'))?.environments.map(({ name }) => name)).not.toContain('qa');
    expect(await features.states('environment')).toMatchObject([{ id: 'qa', state: null }]);
    // A new environment of that name has nothing of the old one.
    await features.call(CreateEnvironment, { body: { name: 'qa', type: 'test' } });
    await features.call(AddProjectEnvironment, { params: { projectId: 'default' }, body: { environment: 'qa' } });
    const { environments } = await features.call(GetFeature, {
      params: { projectId: 'default', featureName: 'checkout' },
    });
    expect(environments?.find(({ name }) => name === 'qa')).toMatchObject({ enabled: false, strategies: [] });
    await features.database.transaction(({ query }) =>
      query(`update environment set protected = true where name = 'qa'`),
    );
    await expect(features.call(DeleteEnvironment, { params })).rejects.toMatchObject({ kind: 'OperationDeniedError' });
  });

  it('refuses invalid names, unknown environments, and callers other than administrators', async () => {
    const validate = (name: string) => features.call(ValidateEnvironmentName, { body: { name } });
    expect(await validate('new')).toBeNull();
    await expect(validate('production')).rejects.toMatchObject({ kind: 'NameExistsError' });
    await expect(validate('a b')).rejects.toMatchObject({ message: /`\/body\/name`/ });
    const params = { name: 'moon' };
    for (const operation of [GetEnvironment, UpdateEnvironment, DeleteEnvironment, SwitchEnvironmentOn]) {
      await expect(features.call(operation, { params, body: {} } as never)).rejects.toMatchObject({
        kind: 'NotFoundError',
      });
    }
    await expect(features.call(SetEnvironmentOrder, { body: { moon: 1 } })).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
    const kim = callerWith({ permission: 'ADMIN', project: 'default' });
    const body = { name: 'mine', type: 'test' };
    await expect(features.call(CreateEnvironment, { body }, kim)).rejects.toMatchObject({ kind: 'NoAccessError' });
  });
});

describe('cloning an environment', () => {
  const features = useFeatures();
  beforeAll(async () => {
    for (const id of ['shop', 'bank']) await features.call(CreateProject, { body: { id, name: id } });
  });
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
});

describe('environments of many features', () => {
  const features = useFeatures();

  it('are put in order with the states of all features, of which most follow the write', async () => {
    const names = Array.from({ length: 1_200 }, (_, nth) => `many-${nth}`);
    await features.given(...names.map((name) => aFeature({ name, project: 'default' })));
    await features.clearOutbox();
    await features.call(SetEnvironmentOrder, { body: { production: 7 } });
    await eventually(async () => {
      const states = await features.states('feature');
      expect(states.map(({ id }) => id).toSorted()).toEqual(names.toSorted());
      for (const { state } of states)
        expect(state?.environments.find(({ name }) => name === 'production')?.sortOrder).toBe(7);
    });
  });

  it('can be deleted however many features have settings in them, and projects get them again once these are removed', async () => {
    const project = { projectId: 'default' };
    const params = { name: 'brief' };
    await features.call(CreateEnvironment, { body: { ...params, type: 'test' } });
    await features.call(AddProjectEnvironment, { params: project, body: { environment: 'brief' } });
    const settings = () => ({ enabled: false, strategies: [aStrategy()], variants: [] });
    await features.given(
      ...Array.from({ length: 1_200 }, (_, nth) =>
        aFeature({ name: `brief-${nth}`, project: 'default', environments: { brief: settings() } }),
      ),
      aFeature({ name: 'on', project: 'default', environments: { brief: { ...settings(), enabled: true } } }),
    );
    await expect(features.call(DeleteEnvironment, { params })).rejects.toMatchObject({
      kind: 'ConflictError',
      message: /: on \(project default\)$/,
    });
    await features.call(DisableFeature, { params: { ...project, environment: 'brief', featureName: 'on' } });
    await features.call(DeleteEnvironment, { params });
    expect((await features.get('brief-7')).environments?.map(({ name }) => name)).not.toContain('brief');
    await features.call(CreateEnvironment, { body: { ...params, type: 'test' } });
    await eventually(() => features.call(AddProjectEnvironment, { params: project, body: { environment: 'brief' } }));
    for (const name of ['brief-7', 'brief-1199', 'on'])
      expect(
        (await features.get(name)).environments?.find((environment) => environment.name === 'brief'),
      ).toMatchObject({
        enabled: false,
        strategies: [],
      });
  });

  it('are not given to a project again while its features still have settings in them', async () => {
    const project = { projectId: 'default' };
    await features.call(CreateEnvironment, { body: { name: 'again', type: 'test' } });
    const write = (text: string) => features.database.transaction(({ query }) => query(text));
    // The removal of an ended process, which the service continues at its next interval.
    await write(
      "insert into removed_environment (project, environment) values ('default', 'again'), ('default', 'anew')",
    );
    const refused = { kind: 'ServiceUnavailable', message: /still being removed/ };
    const add = () => features.call(AddProjectEnvironment, { params: project, body: { environment: 'again' } });
    await expect(add()).rejects.toMatchObject(refused);
    const clone = { params: { name: 'development' }, body: { name: 'anew' } };
    await expect(features.call(CloneEnvironment, clone)).rejects.toMatchObject(refused);
    await write('delete from removed_environment');
    await add();
    await features.call(CloneEnvironment, clone);
  });
});
