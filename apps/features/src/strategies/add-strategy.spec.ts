import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { AddStrategy, type StrategyProperties, type Constraint, CreateSegment } from '@bunting/contracts';
import { lee, mia, callerWith, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.create('checkout');
});
afterAll(() => features.stop());
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
