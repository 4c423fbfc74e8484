import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type CallRequest, callForResponse } from '@bunting/bus';
import {
  AddStrategy,
  CreateProject,
  DeleteStrategy,
  GetStrategy,
  type JsonPatch,
  PatchStrategy,
  UpdateStrategy,
} from '@bunting/contracts';
import { randomUUID } from 'node:crypto';
import { aFeature, aStrategy } from '../../test/builders.ts';
import {
  callContextOf,
  lee,
  mia,
  callerWith,
  type StartedFeatures,
  startFeatures,
} from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  for (const id of ['shop', 'garage']) await features.call(CreateProject, { body: { id, name: id } });
});
afterAll(() => features.stop());

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
const patch = (body: JsonPatch, params = at(), caller = mia) => features.call(PatchStrategy, { params, body }, caller);
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
  expect((await features.get(featureName, mia, 'shop')).collaborators?.users.map(({ name }) => name)).toEqual(['mia']);
});

it('disables the feature with its last active strategy, with an event and a state of a higher version', async () => {
  await patch(retitled('still on'));
  await patch([{ op: 'replace', path: '/disabled', value: true }]);
  expect((await features.emittedEvents()).map(({ type }) => type)).toEqual([
    'feature-strategy-update',
    'feature-strategy-update',
    'feature-environment-disabled',
  ]);
  const states = await features.states('feature');
  expect(states.map(({ id, version }) => [id, version])).toEqual([
    [featureName, 2],
    [featureName, 3],
  ]);
  expect(states.map(({ state }) => state?.environments[0])).toMatchObject([
    { name: 'development', enabled: true, hasStrategies: true, hasEnabledStrategies: true },
    { name: 'development', enabled: false, hasStrategies: true, hasEnabledStrategies: false },
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
  const versions = (await features.states('feature')).map(({ version }) => version);
  expect(versions).toEqual(members.map((_, nth) => nth + 2));
});

it('accepts segments and context fields that a patch refers to', async () => {
  const constraint = { contextName: 'userId', operator: 'IN', values: ['7'] };
  expect(await patch([{ op: 'add', path: '/constraints/-', value: constraint }])).toMatchObject({
    constraints: [constraint],
  });
  await expect(patch([{ op: 'replace', path: '/constraints/0/contextName', value: 'region' }])).rejects.toMatchObject({
    kind: 'NotFoundError',
    message: 'Could not find Context field with name region',
  });
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
