import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import {
  type Constraint,
  CreateEnvironment,
  CreateProject,
  CreateContextField,
  CreateSegment,
  DeleteEnvironment,
  EvaluateAdvancedPlayground,
  EvaluatePlayground,
} from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { mia, type StartedFeatures, startFeatures } from '../../test/started-features.ts';

let features: StartedFeatures;
beforeAll(async () => {
  features = await startFeatures();
  await features.call(CreateProject, { body: { id: 'shop', name: 'Shop' } });
});
afterAll(() => features.stop());
beforeEach(() =>
  features.database.transaction(({ query }) => query('truncate feature, segment restart identity cascade')),
);

const inNorway: Constraint = { contextName: 'country', operator: 'IN', values: ['no'] };
const ids = ['8c0f4d2e-0000-4000-8000-000000000001', '8c0f4d2e-0000-4000-8000-000000000002'] as const;
const rollout = (percentage: number) => ({
  name: 'flexibleRollout',
  parameters: { rollout: String(percentage), stickiness: 'default', groupId: 'checkout' },
});
const evaluate = (context: Record<string, unknown>, more: object = {}) =>
  features.call(EvaluatePlayground, { body: { environment: 'development', context, ...more } });

it('says of each feature whether it is on, and which constraint, segment and bucket decided it', async () => {
  await features.call(CreateContextField, { body: { name: 'plan' } });
  const { id: segment } = await features.call(CreateSegment, {
    body: { name: 'beta', constraints: [{ contextName: 'plan', operator: 'IN', values: ['pro'] }] },
  });
  const strategies = [
    aStrategy({ id: ids[0], constraints: [inNorway], segments: [segment] }),
    aStrategy({ id: ids[1], sortOrder: 1, title: 'Half', ...rollout(50) }),
  ];
  await features.given(aFeature({ enabled: true, strategies }), aFeature({ name: 'quiet', strategies: [aStrategy()] }));

  const { features: evaluated } = await evaluate({ userId: '7', properties: { country: 'no', plan: 'free' } });
  expect(evaluated.map(({ name, isEnabledInCurrentEnvironment }) => [name, isEnabledInCurrentEnvironment])).toEqual([
    ['checkout', true],
    ['quiet', false],
  ]);
  const [checkout] = evaluated;
  const [first, second] = checkout?.strategies.data ?? [];
  expect(first).toMatchObject({
    id: ids[0],
    constraints: [{ ...inNorway, result: true }],
    segments: [{ id: segment, name: 'beta', result: false, constraints: [{ contextName: 'plan', result: false }] }],
    result: { evaluationStatus: 'complete', enabled: false },
  });
  const { bucket, percentage } = second?.result.rollout ?? {};
  expect(second).toMatchObject({
    title: 'Half',
    links: { edit: `/projects/shop/features/checkout/strategies/edit?environmentId=development&strategyId=${ids[1]}` },
    result: { enabled: (bucket ?? 0) <= (percentage ?? 0), rollout: { percentage: 50, stickiness: 'default' } },
  });
  expect(checkout).toMatchObject({ isEnabled: second?.result.enabled, strategies: { result: second?.result.enabled } });
});

it('evaluates only features of the given projects, and none of a project that is hidden from the caller', async () => {
  await features.given(aFeature(), aFeature({ name: 'other', project: 'default' }));
  const names = async (more: object, caller = mia) =>
    (
      await features.call(EvaluatePlayground, { body: { environment: 'development', context: {}, ...more } }, caller)
    ).features.map(({ name }) => name);
  for (const projects of ['*', [], undefined, ['*']])
    expect(await names(projects === undefined ? {} : { projects })).toEqual(['checkout', 'other']);
  expect(await names({ projects: ['shop'] })).toEqual(['checkout']);
  expect(await names({}, { ...mia, hiddenProjects: ['shop'] })).toEqual(['other']);
});

it('evaluates every combination of context values in every environment', async () => {
  await features.given(aFeature({ enabled: true, strategies: [aStrategy({ constraints: [inNorway] })] }));
  const body = {
    environments: ['development', 'production'],
    context: { userId: '1, 2', country: 'no,se', appName: 'shop', broken: { nested: true }, empty: null },
  };
  const { features: evaluated, warnings, input } = await features.call(EvaluateAdvancedPlayground, { body });
  expect(input).toEqual(body);
  expect(warnings).toEqual({ invalidContextProperties: ['broken', 'empty'] });
  expect(evaluated).toHaveLength(1);
  const { development = [], production = [] } = evaluated[0]?.environments ?? {};
  expect(development.map(({ context, isEnabled }) => [context['userId'], context['country'], isEnabled])).toEqual([
    ['1', 'no', true],
    ['1', 'se', false],
    ['2', 'no', true],
    ['2', 'se', false],
  ]);
  expect(production.map(({ isEnabled, environment }) => [isEnabled, environment])).toEqual(
    Array.from({ length: 4 }, () => [false, 'production']),
  );
});

it.each(['constructor', 'toString'])(
  'evaluates features in an environment called %s in which nothing was stored, like in any other',
  async (environment) => {
    await features.call(CreateEnvironment, { body: { name: environment, type: 'test' } });
    try {
      await features.given(aFeature({ enabled: true, strategies: [aStrategy()] }));
      const [evaluated] = (await evaluate({}, { environment })).features;
      expect(evaluated).toMatchObject({ name: 'checkout', isEnabled: false, isEnabledInCurrentEnvironment: false });
      const body = { environments: [environment], context: {} };
      const advanced = await features.call(EvaluateAdvancedPlayground, { body });
      expect(advanced.features.map(({ environments }) => Object.entries(environments))).toMatchObject([
        [[environment, [{ name: 'checkout', isEnabled: false }]]],
      ]);
    } finally {
      await features.call(DeleteEnvironment, { params: { name: environment } });
    }
  },
);

it.each([
  [
    'an unknown environment',
    { environments: ['moon'], context: {} },
    /^Could not find environment moon: see the `\/body\/environments` property\.$/,
  ],
  [
    'more combinations than the limit',
    {
      environments: ['development'],
      context: { a: '1,'.repeat(20_000) + '2', b: Array.from({ length: 20_000 }, (_, n) => n).join() },
    },
    /at most 15000 evaluations .*context: see the `\/body` property\.$/,
  ],
])('refuses %s', async (_, body, message) => {
  await expect(features.call(EvaluateAdvancedPlayground, { body })).rejects.toThrow(message);
});

it('refuses more features than the limit allows, and reads no more of them', async () => {
  await features.given(...Array.from({ length: 16 }, (_, nth) => aFeature({ name: `flag-${nth}` })));
  const context = { userId: Array.from({ length: 1_000 }, (_, id) => id).join() };
  const body = { environments: ['development'], context };
  await expect(features.call(EvaluateAdvancedPlayground, { body })).rejects.toThrow(/at most 15000 evaluations/);
  const within = await features.call(EvaluateAdvancedPlayground, {
    body: { ...body, projects: ['default'] },
  });
  expect(within.features).toEqual([]);
});

it('refuses an advanced evaluation that would repeat large strategies for many contexts', async () => {
  const values = Array.from({ length: 250 }, (_, nth) => `${nth}-${'v'.repeat(90)}`);
  const constraints = Array.from({ length: 30 }, () => ({ contextName: 'userId', operator: 'IN' as const, values }));
  await features.given(aFeature({ name: 'heavy', strategies: [aStrategy({ constraints })] }));
  const evaluate = (users: number) => {
    const userId = Array.from({ length: users }, (_, nth) => `user-${nth}`).join(',');
    const body = { environments: ['development'], features: ['heavy'], context: { appName: 'shop', userId } };
    return features.call(EvaluateAdvancedPlayground, { body });
  };
  expect((await evaluate(2)).features).toHaveLength(1);
  await expect(evaluate(100)).rejects.toThrow(/too large to be shown for each context/);
});
