import { randomUUID } from 'node:crypto';
import { callForResponse, type CallRequest } from '@bunting/bus';
import {
  AddStrategy,
  type Constraint,
  CreateFeature,
  CreateProject,
  CreateSegment,
  DeleteStrategy,
  GetFeatureEnvironment,
  GetResourceLimits,
  GetStrategy,
  ImportFeatures,
  type JsonPatch,
  ListStrategies,
  outboxOperations,
  PatchStrategy,
  PreviewChanges,
  type Refusal,
  SetStrategyOrder,
  type StrategyProperties,
  UpdateSegment,
  UpdateStrategy,
  type UpdateStrategyBody,
  ValidateConstraint,
} from '@bunting/contracts';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { aFeature, aStrategy } from '../../test/builders.ts';
import {
  callContextOf,
  callerWith,
  lee,
  mia,
  type StartedFeatures,
  startFeatures,
  useFeatures,
} from '../../test/started-features.ts';

const features = useFeatures();

describe('editing strategies', () => {
  const constraint: Constraint = {
    contextName: 'userId',
    operator: 'IN',
    values: ['7'],
    inverted: false,
    caseInsensitive: false,
  };

  /** A new feature for each test, enabled in development with two strategies: the first has a constraint, the second is disabled. */
  let featureName: string;
  let first: string;
  let second: string;
  beforeEach(async () => {
    featureName = `feature-${randomUUID()}`;
    [first, second] = [randomUUID(), randomUUID()];
    const strategies = [
      aStrategy({ id: first, title: 'Seven', constraints: [constraint], parameters: { a: '1' } }),
      aStrategy({ id: second, disabled: true, sortOrder: 1 }),
    ];
    await features.given(aFeature({ name: featureName, project: 'default', enabled: true, strategies }));
    await features.clearOutbox();
  });

  const at = (environment = 'development') => ({ projectId: 'default', featureName, environment });
  const of = (strategyId: string, environment?: string) => ({ ...at(environment), strategyId });
  const list = () => features.call(ListStrategies, { params: at() });
  const read = (strategyId: string) => features.call(GetStrategy, { params: of(strategyId) });
  const put = (body: UpdateStrategyBody, params = of(first), caller = mia) =>
    features.call(UpdateStrategy, { params, body }, caller);
  const remove = (strategyId: string, caller = mia) =>
    features.call(DeleteStrategy, { params: of(strategyId) }, caller);
  const order = (body: { id: string; sortOrder: number }[], params = at(), caller = mia) =>
    features.call(SetStrategyOrder, { params, body }, caller);
  const types = async () => (await features.emittedEvents()).map(({ type }) => type);

  it('returns strategies in their order, and a single one', async () => {
    expect((await list()).map(({ id }) => id)).toEqual([first, second]);
    expect(await read(first)).toMatchObject({ id: first, title: 'Seven', constraints: [constraint], segments: [] });
    expect(await features.call(GetFeatureEnvironment, { params: at() })).toMatchObject({
      name: featureName,
      environment: 'development',
      enabled: true,
      strategies: [
        { id: first, featureName },
        { id: second, featureName },
      ],
    });
    expect(await features.call(GetFeatureEnvironment, { params: at('production') })).toMatchObject({
      enabled: false,
      strategies: [],
    });
  });

  it('refuses unknown strategies, features and environments', async () => {
    for (const params of [of(randomUUID()), of(first, 'production'), { ...of(first), featureName: 'unknown' }]) {
      for (const operation of [GetStrategy, DeleteStrategy]) {
        await expect(features.call(operation, { params })).rejects.toMatchObject({ kind: 'NotFoundError' });
      }
      await expect(put({}, params)).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
    for (const params of [at('moon'), { ...at(), projectId: 'moon' }]) {
      for (const operation of [ListStrategies, GetFeatureEnvironment]) {
        await expect(features.call(operation, { params })).rejects.toMatchObject({ kind: 'NotFoundError' });
      }
      await expect(order([], params)).rejects.toMatchObject({ kind: 'NotFoundError' });
    }
  });

  it('an update replaces constraints and variants, keeps omitted properties, and emits both contents', async () => {
    const reply = await put({ title: null, disabled: null, sortOrder: 9 });
    expect(reply).toMatchObject({
      title: 'Seven',
      disabled: false,
      constraints: [],
      parameters: { a: '1' },
      sortOrder: 0,
    });
    expect(await read(first)).toEqual(reply);
    const [event, ...others] = await features.emittedEvents();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'feature-strategy-update',
      project: 'default',
      featureName,
      environment: 'development',
      preData: { constraints: [constraint] },
      data: { constraints: [] },
    });
    await put({});
    expect(await types()).toHaveLength(1);
  });

  it('fills in the default parameters of a gradual rollout', async () => {
    expect(await put({ name: 'flexibleRollout', parameters: { rollout: '5' } })).toMatchObject({
      parameters: { rollout: '5', stickiness: 'default', groupId: featureName },
    });
  });

  it('disables the feature when its last active strategy is disabled or deleted, with an event', async () => {
    await put({ constraints: [constraint], disabled: true });
    expect(await types()).toEqual(['feature-strategy-update', 'feature-environment-disabled']);
  });

  it('deletes a strategy after disabling a feature without another active one', async () => {
    await remove(second);
    await remove(first);
    expect(await types()).toEqual([
      'feature-strategy-remove',
      'feature-environment-disabled',
      'feature-strategy-remove',
    ]);
    expect((await features.emittedEvents())[0]).toMatchObject({ environment: 'development', preData: { id: second } });
    expect(await list()).toEqual([]);
  });

  it('reorders strategies, with an event only if the order changes', async () => {
    await order([{ id: first, sortOrder: 5 }]);
    await order([{ id: first, sortOrder: 5 }]);
    await order([]);
    expect((await list()).map(({ id }) => id)).toEqual([second, first]);
    expect(await features.emittedEvents()).toMatchObject([
      {
        type: 'strategy-order-changed',
        preData: { strategyIds: [first, second] },
        data: { strategyIds: [second, first] },
      },
    ]);
    await expect(order([{ id: randomUUID(), sortOrder: 1 }])).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /\/body\/0\/id/,
    });
  });

  it('refuses an invalid update of a strategy, names the property, and stores nothing', async () => {
    await expect(put({ name: 'magic' })).rejects.toMatchObject({ kind: 'ValidationError', message: /\/body\/name/ });
    await expect(put({ constraints: [{ contextName: 'userId', operator: 'IN', values: [] }] })).rejects.toMatchObject({
      kind: 'ValidationError',
      message: /\/body\/constraints\/0\/values/,
    });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('changes strategies only with the permission in the environment', async () => {
    const production = { project: 'default', environment: 'production' };
    const updater = callerWith({ permission: 'UPDATE_FEATURE_STRATEGY', ...production });
    await expect(put({}, of(first), updater)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_STRATEGY'] });
    await expect(order([], at(), updater)).rejects.toMatchObject({ permissions: ['UPDATE_FEATURE_STRATEGY'] });
    await expect(remove(first, lee)).rejects.toMatchObject({ permissions: ['DELETE_FEATURE_STRATEGY'] });
  });
});

describe('adding a strategy', () => {
  beforeAll(async () => {
    await features.create('checkout');
  });
  beforeEach(() => features.clearOutbox());

  const at = (about: object = {}) => ({
    projectId: 'default',
    featureName: 'checkout',
    environment: 'development',
    ...about,
  });
  const add = (body: StrategyProperties, params = at(), caller = mia) =>
    features.call(AddStrategy, { params, body }, caller);
  const strategiesNow = async () => (await features.get('checkout')).environments?.[0]?.strategies;

  it('adds a strategy after the existing ones with an event, and does not enable the feature', async () => {
    const first = await add({ name: 'flexibleRollout', parameters: { rollout: '50' } });
    const second = await add({ name: 'default', title: 'Everyone' });
    expect(first).toMatchObject({
      sortOrder: 0,
      parameters: { rollout: '50', stickiness: 'default', groupId: 'checkout' },
    });
    expect(first.id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(second).toMatchObject({ name: 'default', title: 'Everyone', disabled: false, sortOrder: 1 });
    expect(await strategiesNow()).toEqual([first, second]);
    expect((await features.get('checkout')).enabled).toBe(false);
    expect(await features.emittedEvents()).toMatchObject([
      { type: 'feature-strategy-add', environment: 'development', data: first, preData: null },
      { type: 'feature-strategy-add', environment: 'development', data: second, preData: null },
    ]);
  });

  it('adds a strategy with global segments and those of its project, whose ids are in the state', async () => {
    const segment = (name: string) => features.call(CreateSegment, { body: { name, constraints: [] } });
    const [one, two] = [await segment('beta'), await segment('staff')];
    await add({ name: 'default', segments: [two.id, one.id, two.id] });
    expect((await features.lastState('checkout'))?.segments).toEqual([two.id, one.id]);
  });

  it('refuses a strategy with unknown references, and stores nothing', async () => {
    const before = await strategiesNow();
    const unknown: Constraint = { contextName: 'region', operator: 'IN', values: ['eu'] };
    const refused: [StrategyProperties, object][] = [
      [{ name: 'magic' }, { kind: 'ValidationError', message: /magic.*\/body\/name/ }],
      [
        { name: 'default', segments: [4711] },
        { kind: 'NotFoundError', message: 'No segment exists with ID "4711"' },
      ],
      [
        { name: 'default', constraints: [unknown] },
        { kind: 'NotFoundError', message: /region/ },
      ],
    ];
    for (const [strategy, refusal] of refused) await expect(add(strategy)).rejects.toMatchObject(refusal);
    await expect(add({ name: 'default' }, at({ environment: 'moon' }))).rejects.toMatchObject({
      kind: 'ValidationError',
    });
    await expect(add({ name: 'default' }, at({ featureName: 'unknown' }))).rejects.toMatchObject({
      kind: 'NotFoundError',
    });
    expect(await strategiesNow()).toEqual(before);
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('never exceeds thirty strategies in an environment under concurrent requests', async () => {
    const production = at({ environment: 'production' });
    /** All wait for the lock of one feature: on a slow machine, some of them in vain for a connection. */
    const addWhenNotBusy = async (): Promise<unknown> => {
      for (;;) {
        try {
          return await add({ name: 'default' }, production);
        } catch (error) {
          if ((error as { kind?: string }).kind !== 'ServiceUnavailable') throw error;
        }
      }
    };
    const outcomes = await Promise.allSettled(Array.from({ length: 34 }, addWhenNotBusy));
    const refusals = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason as object] : []));
    expect(refusals).toHaveLength(4);
    for (const refusal of refusals) expect(refusal).toMatchObject({ kind: 'ExceedsLimitError' });
  });

  it('adds a strategy only with CREATE_FEATURE_STRATEGY in the environment', async () => {
    const permission = 'CREATE_FEATURE_STRATEGY';
    await add({ name: 'default' }, at(), callerWith({ permission, project: 'default', environment: 'development' }));
    for (const caller of [lee, callerWith({ permission, environment: 'production' })]) {
      await expect(add({ name: 'default' }, at(), caller)).rejects.toMatchObject({ kind: 'NoAccessError' });
    }
  });
});

describe('patching a strategy', () => {
  beforeAll(async () => {
    for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
  });

  /** A new feature for each test, with one strategy in development. */
  let featureName: string;
  let strategyId: string;
  beforeEach(async () => {
    featureName = `feature-${randomUUID()}`;
    strategyId = randomUUID();
    const strategies = [aStrategy({ id: strategyId, title: 'Everyone' })];
    await features.given(aFeature({ name: featureName, enabled: true, strategies }));
    await features.clearOutbox();
  });

  const at = (about: Partial<Record<'projectId' | 'featureName' | 'environment' | 'strategyId', string>> = {}) => ({
    projectId: 'shop',
    featureName,
    environment: 'development',
    strategyId,
    ...about,
  });
  const patch = (body: JsonPatch, params = at(), caller = mia) =>
    features.call(PatchStrategy, { params, body }, caller);
  const retitled = (value: unknown): JsonPatch => [{ op: 'replace', path: '/title', value }];
  const strategyNow = async () => (await features.get(featureName, mia, 'shop')).environments?.[0]?.strategies?.[0];

  it('replies to a patch with the stored strategy', async () => {
    const reply = await patch(retitled('Half of Oslo'));
    expect(reply).toEqual({
      id: strategyId,
      name: 'default',
      title: 'Half of Oslo',
      disabled: false,
      sortOrder: 0,
      constraints: [],
      parameters: {},
      variants: [],
      segments: [],
    });
    expect(await strategyNow()).toEqual(reply);
  });

  it.each<[string, object]>([
    ['with nothing but a name', { name: 'default' }],
    [
      'with all that it can have',
      {
        name: 'flexibleRollout',
        title: 'Half',
        disabled: true,
        sortOrder: 9999,
        segments: [],
        parameters: { rollout: '50', stickiness: 'default', groupId: 'x' },
        constraints: [{ contextName: 'userId', operator: 'IN', values: ['7'] }],
        variants: [{ name: 'a', weight: 1000, weightType: 'variable', stickiness: 'default' }],
      },
    ],
  ])('refuses an outdated edit of a strategy %s with the tag of this strategy as it is now', async (_, body) => {
    const params = at();
    const { id = '' } = await features.call(AddStrategy, { params, body: body as { name: string } });
    const own = { ...params, strategyId: id };
    const stale = (operation: typeof PatchStrategy | typeof UpdateStrategy | typeof DeleteStrategy, sent?: unknown) =>
      features
        .call(operation, { params: own, body: sent } as CallRequest<typeof operation>, mia, { ifMatch: ['outdated'] })
        .catch((refusal: unknown) => refusal);
    const bus = features.bus;
    for (let edits = 0; edits < 2; edits++) {
      const read = await callForResponse(bus, GetStrategy, { params: own }, callContextOf(mia));
      const tag = 'reply' in read ? read.reply.headers['ETag'] : undefined;
      const current = { kind: 'PreconditionFailed', tag: tag?.slice(1, -1) };
      expect(await stale(PatchStrategy, retitled('Later'))).toMatchObject(current);
      expect(await stale(UpdateStrategy, { name: 'default' })).toMatchObject(current);
      expect(await stale(DeleteStrategy)).toMatchObject(current);
      await patch(retitled('In between'), own);
    }
  });

  it('emits the strategy before and after a patch, with actor and time', async () => {
    const before = Date.now();
    await patch(retitled('Half of Oslo'));
    const [event, ...others] = await features.emittedEvents();
    expect(others).toEqual([]);
    expect(event).toMatchObject({
      type: 'feature-strategy-update',
      project: 'shop',
      environment: 'development',
      featureName,
      tags: [],
      createdBy: 'mia',
      createdByUserId: 1,
      preData: { id: strategyId, title: 'Everyone', segments: [] },
      data: { id: strategyId, title: 'Half of Oslo', segments: [] },
    });
    expect(Date.parse(event?.createdAt ?? '')).toBeGreaterThanOrEqual(before);
    expect((await features.get(featureName, mia, 'shop')).collaborators?.users.map(({ name }) => name)).toEqual([
      'mia',
    ]);
  });

  it('disables the feature with its last active strategy, with an event and a state of a higher version', async () => {
    const stateNow = async () => {
      const { version, state } = (await features.states('feature')).at(-1) ?? {};
      return { version, environment: state?.environments[0] };
    };
    await patch(retitled('still on'));
    expect(await stateNow()).toMatchObject({
      version: 2,
      environment: { name: 'development', enabled: true, hasStrategies: true, hasEnabledStrategies: true, rules: [{}] },
    });
    await patch([{ op: 'replace', path: '/disabled', value: true }]);
    expect((await features.emittedEvents()).map(({ type }) => type)).toEqual([
      'feature-strategy-update',
      'feature-strategy-update',
      'feature-environment-disabled',
    ]);
    expect(await stateNow()).toMatchObject({
      version: 3,
      environment: { name: 'development', enabled: false, hasStrategies: true, hasEnabledStrategies: false, rules: [] },
    });
  });

  it('emits whom each enabled strategy reaches in the state of its feature', async () => {
    const young = await features.call(CreateSegment, { body: { name: 'young-in-state', constraints: [] } });
    await features.create('reaching');
    const params = { projectId: 'default', featureName: 'reaching', environment: 'development' };
    const rollout = { name: 'flexibleRollout', parameters: { rollout: '25' }, segments: [young.id] };
    await features.call(AddStrategy, { params, body: rollout });
    const constraints = [{ contextName: 'userId', operator: 'IN' as const, values: ['7'] }];
    await features.call(AddStrategy, { params, body: { name: 'userWithId', constraints } });
    await features.call(AddStrategy, { params, body: { name: 'default', disabled: true } });
    const state = (await features.states('feature')).findLast(({ id }) => id === 'reaching')?.state;
    expect(state?.environments.map(({ name, rules }) => [name, rules])).toEqual([
      [
        'development',
        [
          { name: 'flexibleRollout', share: '25', segments: [young.id] },
          { name: 'userWithId', constraints: 1 },
        ],
      ],
      ['production', []],
    ]);
  });

  it('stores and emits nothing for a patch without effect', async () => {
    await patch([]);
    await patch(retitled('Everyone'));
    expect(await features.emittedEvents()).toEqual([]);
    expect(await features.states('feature')).toEqual([]);
  });

  it('keeps the edits of twenty concurrent patches of different members', async () => {
    const members = Array.from({ length: 20 }, (_, nth) => `member-${nth}`);
    await Promise.all(members.map((key) => patch([{ op: 'add', path: `/parameters/${key}`, value: key }])));
    expect((await strategyNow())?.parameters).toEqual(Object.fromEntries(members.map((key) => [key, key])));
    const states = await features.states('feature');
    // The state that all of them led to, for the first edit and for the last one: those between would repeat it.
    expect(states.map(({ version }) => version)).toEqual([members.length + 1, members.length + 1]);
  });

  it('accepts segments and context fields that a patch refers to', async () => {
    const constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
    expect(await patch([{ op: 'add', path: '/constraints/-', value: constraint }])).toMatchObject({
      constraints: [constraint],
    });
    await expect(patch([{ op: 'replace', path: '/constraints/0/contextName', value: 'region' }])).rejects.toMatchObject(
      {
        kind: 'NotFoundError',
        message: 'Could not find Context field with name region',
      },
    );
    await expect(patch([{ op: 'add', path: '/segments/-', value: 4711 }])).rejects.toMatchObject({
      kind: 'NotFoundError',
      message: 'No segment exists with ID "4711"',
    });
  });

  describe('finds nothing', () => {
    it('does not patch an unknown strategy, or one of another environment', async () => {
      for (const elsewhere of [
        at({ strategyId: randomUUID() }),
        at({ environment: 'production' }),
        at({ environment: 'moon' }),
      ]) {
        await expect(patch(retitled('x'), elsewhere)).rejects.toMatchObject({
          kind: 'NotFoundError',
          message: `Could not find strategy with id: ${elsewhere.strategyId}`,
        });
      }
    });

    it('does not patch a strategy of another feature or project', async () => {
      const other = `feature-${randomUUID()}`;
      await features.given(aFeature({ name: other, strategies: [aStrategy({ id: randomUUID() })] }));
      await expect(patch(retitled('x'), at({ featureName: other }))).rejects.toMatchObject({ kind: 'NotFoundError' });
      await expect(patch(retitled('x'), at({ featureName: 'unknown' }))).rejects.toMatchObject({
        message: 'There\'s no feature named "unknown" in project "shop".',
      });
      for (const projectId of ['garage', 'moon']) {
        await expect(patch(retitled('x'), at({ projectId }))).rejects.toMatchObject({
          kind: 'NotFoundError',
          message: `There's no feature named "${featureName}" in project "${projectId}", but there's a feature with that name in project "shop"`,
        });
      }
      expect(await strategyNow()).toMatchObject({ title: 'Everyone' });
    });
  });

  it('refuses a patch with an invalid result, names the property, and stores nothing', async () => {
    await expect(patch(retitled(7))).rejects.toMatchObject({ kind: 'ValidationError', message: /\/title/ });
    await expect(patch([{ op: 'add', path: '/__proto__/polluted', value: true }])).rejects.toMatchObject({
      kind: 'ValidationError',
    });
    const doubling: JsonPatch = Array.from({ length: 22 }, () => ({
      op: 'copy',
      from: '/parameters',
      path: '/parameters/more',
    }));
    await expect(patch(doubling)).rejects.toMatchObject({ kind: 'ValidationError' });
    expect(await strategyNow()).toMatchObject({ title: 'Everyone' });
    expect(await features.emittedEvents()).toEqual([]);
  });

  it('patches a strategy only with UPDATE_FEATURE_STRATEGY in its project and environment', async () => {
    const permission = 'UPDATE_FEATURE_STRATEGY';
    await patch(retitled('by kim'), at(), callerWith({ permission, project: 'shop', environment: 'development' }));
    const others = [
      lee,
      callerWith({ permission, project: 'garage' }),
      callerWith({ permission, environment: 'production' }),
    ];
    for (const other of others) {
      await expect(patch(retitled('x'), at(), other)).rejects.toMatchObject({
        kind: 'NoAccessError',
        permissions: [permission],
      });
    }
    expect(await strategyNow()).toMatchObject({ title: 'by kim' });
  });
});

describe('concurrent patches', () => {
  const clients = 64;
  const wanted = 240;
  const most = 250;

  const rounds = Array.from({ length: 2 }, (_, nth) => nth + 1);

  const at = (featureName: string) => ({
    projectId: 'default',
    featureName,
    environment: 'development',
    strategyId: featureName,
  });
  const add = (featureName: string, value: string) =>
    features.call(PatchStrategy, {
      params: at(featureName),
      body: [{ op: 'add', path: '/constraints/0/values/-', value }],
    });
  const valuesOf = async (featureName: string) =>
    (await features.get(featureName)).environments?.[0]?.strategies?.[0]?.constraints?.[0]?.values ?? [];

  /** Lets clients concurrently add values one by one. Returns the refusals. */
  const addTogether = async (featureName: string, values: readonly string[]): Promise<unknown[]> => {
    const waiting = [...values];
    const refused: unknown[] = [];
    const client = async (): Promise<void> => {
      for (let value = waiting.pop(); value !== undefined; value = waiting.pop()) {
        await add(featureName, value).catch((error: unknown) => refused.push(error));
      }
    };
    await Promise.all(Array.from({ length: clients }, client));
    return refused;
  };

  const withOneValue = async (name: string): Promise<void> => {
    const constraint: Constraint = { contextName: 'userId', operator: 'IN', values: ['first'] };
    const strategies = [aStrategy({ id: name, constraints: [constraint] })];
    await features.given(aFeature({ name, project: 'default', strategies }));
  };
  const values = Array.from({ length: wanted - 1 }, (_, nth) => `value-${nth}`);

  it.each(rounds)(
    'loses no value of many clients that concurrently add to one constraint, in round %i',
    async (round) => {
      const name = `busy-${round}`;
      await withOneValue(name);
      expect(await addTogether(name, values)).toEqual([]);
      const stored = await valuesOf(name);
      expect(stored).toHaveLength(wanted);
      expect(new Set(stored)).toEqual(new Set(['first', ...values]));
    },
  );

  it('concurrent patches stop exactly at the limit of values', async () => {
    await withOneValue('full');
    expect(await addTogether('full', values)).toEqual([]);
    const refused = await addTogether(
      'full',
      Array.from({ length: 20 }, (_, nth) => `more-${nth}`),
    );
    expect(await valuesOf('full')).toHaveLength(most);
    expect(refused).toHaveLength(20 - (most - wanted));
    for (const error of refused) expect(error).toMatchObject({ kind: 'ExceedsLimitError', message: /userId/ });
    await expect(add('full', 'one too many')).rejects.toMatchObject({ kind: 'ExceedsLimitError', message: /userId/ });
  });
});

describe('regex constraints', () => {
  /** As by default. */
  let refusing: StartedFeatures;
  /** The same database with the operator allowed. */
  let allowing: StartedFeatures;
  beforeAll(async () => {
    refusing = await startFeatures();
    allowing = await startFeatures({ FEATURES_DATABASE_URL: refusing.url, FEATURES_ALLOW_REGEX: 'true' });
    await refusing.call(CreateFeature, { params, body: { name: 'mailed' } });
  });
  afterAll(async () => {
    await allowing.stop();
    await refusing.stop();
  });

  const params = { projectId: 'default' };
  const environment = 'development';
  const at = { ...params, featureName: 'mailed', environment };
  const constraint = { contextName: 'userId', operator: 'REGEX' as const, value: '^[a-z]+@example[.]com$' };
  const strategy = { name: 'default', constraints: [constraint] };
  const broken = { ...constraint, value: '(unclosed' };

  const imported = (constraints: Constraint[]) => ({
    body: {
      project: 'default',
      environment,
      data: {
        features: [{ name: 'brought', type: 'release', project: 'default' }],
        featureStrategies: [{ featureName: 'brought', name: 'default', parameters: {}, segments: [], constraints }],
        featureEnvironments: [],
        contextFields: [],
        featureTags: [],
        segments: [],
        tagTypes: [],
        dependencies: [],
      },
    },
  });
  const previewOf = async (service: StartedFeatures, constraints: Constraint[]) => {
    const payload = { name: 'default', parameters: {}, constraints };
    const change = { action: 'addStrategy' as const, feature: 'mailed', payload };
    const requests = [{ environment, changes: [{ id: 1, change, snapshot: null }] }];
    const { previews } = await service.call(PreviewChanges, {
      body: { project: 'default', withStates: false, requests },
    });
    return JSON.stringify(previews);
  };
  /** Every way in which a constraint enters, and where the constraint stands in it. */
  const entries: readonly [string, (service: StartedFeatures, constraint: Constraint) => Promise<unknown>, string][] = [
    [
      'a strategy',
      (service, it) => service.call(AddStrategy, { params: at, body: { ...strategy, constraints: [it] } }),
      '/body/constraints/0',
    ],
    [
      'a segment',
      (service, it) => service.call(CreateSegment, { body: { name: 'mail', constraints: [it] } }),
      '/body/constraints/0',
    ],
    ['a validated constraint', (service, it) => service.call(ValidateConstraint, { body: it }), '/body'],
    [
      'an import',
      (service, it) => service.call(ImportFeatures, imported([it])),
      '/body/data/featureStrategies/0/constraints/0',
    ],
  ];

  it.each(entries)(
    'REGEX in %s is refused by default, and invalid patterns always, with the place',
    async (_, enter, place) => {
      const refusalOf = (attempt: Promise<unknown>): Promise<Refusal> =>
        attempt.then(
          () => Promise.reject(new Error('It was not refused.')),
          (refusal: Refusal) => refusal,
        );
      const refused = await refusalOf(enter(refusing, constraint));
      expect(refused.message).toContain('FEATURES_ALLOW_REGEX');
      expect(refused.details).toMatchObject([{ path: `${place}/operator` }]);
      const invalid = await refusalOf(enter(allowing, broken));
      expect(invalid.message).toContain('missing closing )');
      expect(invalid.details).toMatchObject([{ path: `${place}/value` }]);
    },
  );

  it('REGEX in a change request is a conflict by default, and none where it is allowed', async () => {
    expect(await previewOf(refusing, [constraint])).toContain('FEATURES_ALLOW_REGEX');
    expect(await previewOf(allowing, [broken])).toContain('missing closing )');
    expect(await previewOf(allowing, [constraint])).not.toMatch(/FEATURES_ALLOW_REGEX|"conflict"/);
  });

  it('REGEX is stored and delivered to SDKs where it is allowed, and stays when it is turned off', async () => {
    const { id = '' } = await allowing.call(AddStrategy, { params: at, body: strategy });
    const { id: segment } = await allowing.call(CreateSegment, { body: { name: 'mail', constraints: [constraint] } });
    await allowing.call(ImportFeatures, imported([constraint]));
    const { messages } = await refusing.call(outboxOperations.features, {
      body: { topic: 'delivery', consumer: 'gateway', after: 0, limit: 1_000 },
    });
    const delivered = messages.map(({ payload }) => JSON.stringify(payload));
    for (const entity of ['"id":"mailed"', '"id":"brought"', '"entity":"segment"']) {
      expect(delivered.findLast((row) => row.includes(entity))).toContain(
        '"operator":"REGEX","values":[],"value":"^[a-z]+@example[.]com$"',
      );
    }

    const retitled = [{ op: 'replace' as const, path: '/title', value: 'By mail' }];
    const patched = await refusing.call(PatchStrategy, { params: { ...at, strategyId: id }, body: retitled });
    expect(patched).toMatchObject({ title: 'By mail', constraints: [constraint] });
    const renamed = { name: 'post', constraints: [constraint] };
    await refusing.call(UpdateSegment, { params: { id: segment }, body: renamed });
  });

  it('the limits of the features service say whether REGEX is allowed', async () => {
    expect(await refusing.call(GetResourceLimits, {})).toMatchObject({ allowsRegex: false });
    expect(await allowing.call(GetResourceLimits, {})).toMatchObject({ allowsRegex: true });
  });
});
