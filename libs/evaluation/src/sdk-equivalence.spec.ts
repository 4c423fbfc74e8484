import { expect, it } from 'vitest';
import { constraintOperators } from '@bunting/contracts';
import fc from 'fast-check';
import { once } from 'node:events';
import { InMemStorageProvider, Unleash } from 'unleash-client';
import { type EvaluableFeature, compileEvaluator } from './evaluator.ts';

// Both this package and the SDK for Node.js evaluate generated features. Users have an id, so that no result is random, and the id is
// ASCII, since the SDK hashes only the low byte of each UTF-16 unit. Strategies always have a group id, since the SDK has no default for
// it.

const users = ['1', '7', '42', 'mia', 'lee', 'a-very-long-user-name@bunting.example'];
const words = ['no', 'se', '10', '2.5', '-3', '1.2.3', '2.0.0-beta.1', '2026-11-22T12:00:00.000Z', '10.1.2.3', 'Mixed'];
const fields = ['userId', 'country', 'tenant', 'remoteAddress', 'absent'];
/** The operators that can be stored, `IN_CIDR`, which SDKs also evaluate, and an unknown one. */
const operators: readonly string[] = [...constraintOperators, 'IN_CIDR', 'OWN'];
const word = fc.constantFrom(...words, ...users);
const network = fc.constantFrom('10.0.0.0/8', '10.1.2.3', '10.1.2.0/30', '2001:db8::/32', 'nonsense');

const constraint = fc.record({
  contextName: fc.constantFrom(...fields),
  operator: fc.constantFrom(...operators),
  values: fc.array(fc.oneof(word, network), { maxLength: 3 }),
  value: word,
  inverted: fc.boolean(),
  caseInsensitive: fc.boolean(),
});
const constraints = fc.array(constraint, { maxLength: 2 });
const stickiness = fc.constantFrom('default', 'userId', 'tenant');
const variants = (more: object) =>
  fc.array(fc.record({ name: fc.constantFrom('red', 'green', 'blue'), weight: fc.nat(1000), stickiness, ...more }), {
    maxLength: 3,
  });
const percent = fc.integer({ min: 0, max: 100 }).map(String);
const list = fc.array(word, { maxLength: 3 }).map((items) => items.join(', '));
const strategy = fc.record({
  name: fc.constantFrom('default', 'flexibleRollout', 'userWithId', 'remoteAddress', 'gradualRolloutUserId', 'ourOwn'),
  parameters: fc.record({
    groupId: fc.constantFrom('one', 'other'),
    rollout: percent,
    percentage: percent,
    stickiness,
    userIds: list,
    IPs: fc
      .array(
        network.filter((it) => !it.includes(':')),
        { maxLength: 2 },
      )
      .map((items) => items.join(', ')),
  }),
  constraints,
  segments: fc.subarray([1, 2, 9]),
  variants: variants({}),
});
const overrides = fc.array(
  fc.record({ contextName: fc.constantFrom(...fields), values: fc.array(word, { maxLength: 2 }) }),
  {
    maxLength: 1,
  },
);
const parent = fc.record({
  feature: fc.constantFrom('f0', 'f1', 'absent'),
  enabled: fc.boolean(),
  variants: fc.subarray(['red', 'blue', 'disabled']),
});
const feature = fc.record({
  enabled: fc.boolean(),
  strategies: fc.array(strategy, { maxLength: 3 }),
  variants: variants({ overrides }),
  dependencies: fc.array(parent, { maxLength: 1 }),
});
const content = fc.record({
  features: fc.array(feature, { minLength: 3, maxLength: 5 }),
  segments: fc.array(constraints, { minLength: 2, maxLength: 2 }),
});
const context = fc.record({
  userId: fc.constantFrom(...users),
  remoteAddress: fc.constantFrom('10.1.2.3', '10.200.0.1', '192.168.0.1'),
  properties: fc.record({ country: word, tenant: fc.constantFrom('acme', 'umbrella') }),
});

type Content = typeof content extends fc.Arbitrary<infer It> ? It : never;
type Context = typeof context extends fc.Arbitrary<infer It> ? It : never;

it('evaluates every generated feature as the SDK for Node.js does', async () => {
  const seen = new Set<string>();
  const compare = async ({ features: content, segments: constraintsOfSegments }: Content, sdkContext: Context) => {
    const features = content.map((one, nth) => ({
      name: `f${nth}`,
      project: 'default',
      type: 'release',
      stale: false,
      impressionData: false,
      ...one,
    }));
    const segments = constraintsOfSegments.map((constraints, nth) => ({ id: nth + 1, name: `s${nth}`, constraints }));
    const sdk = new Unleash({
      appName: 'spec',
      url: 'http://nowhere.invalid/api',
      refreshInterval: 0,
      metricsInterval: 0,
      disableMetrics: true,
      skipInstanceCountWarning: true,
      storageProvider: new InMemStorageProvider(),
      bootstrap: { data: features as never, segments: segments as never },
    });
    sdk.on('warn', () => undefined);
    sdk.on('error', () => undefined);
    await once(sdk, 'ready');
    const now = new Date();
    const evaluator = compileEvaluator(features as readonly EvaluableFeature[], segments);
    const { properties, userId, remoteAddress } = sdkContext;
    const evaluationContext = {
      fields: new Map(Object.entries({ ...properties, userId, remoteAddress })),
      now,
      random: Math.random,
    };
    const ours = features.map(({ name }) => {
      const { enabled, variant } = evaluator.evaluate(name, evaluationContext);
      return { name, enabled, variant: variant.name };
    });
    const theirs = features.map(({ name }) => ({
      name,
      enabled: sdk.isEnabled(name, sdkContext),
      variant: sdk.getVariant(name, sdkContext).name,
    }));
    sdk.destroy();
    expect(ours).toEqual(theirs);
    for (const { enabled, variant } of ours) seen.add(`${enabled} ${variant}`);
  };
  await fc.assert(fc.asyncProperty(content, context, compare), { numRuns: 400 });
  expect([...seen].sort()).toEqual(['false disabled', 'true blue', 'true disabled', 'true green', 'true red']);
});

it('puts users beyond ASCII where the SDK for Node.js puts the UTF-8 bytes of their ids, in rollouts and variants', async () => {
  const strategies = [
    {
      name: 'flexibleRollout',
      parameters: { rollout: '50', stickiness: 'userId', groupId: 'g' },
      constraints: [],
      variants: ['red', 'green', 'blue'].map((name) => ({ name, weight: 333, stickiness: 'userId' })),
    },
  ];
  const feature = { name: 'f', enabled: true, strategies, variants: [] };
  const about = { project: 'default', type: 'release', stale: false, impressionData: false };
  const sdk = new Unleash({
    appName: 'spec',
    url: 'http://nowhere.invalid/api',
    refreshInterval: 0,
    metricsInterval: 0,
    disableMetrics: true,
    skipInstanceCountWarning: true,
    storageProvider: new InMemStorageProvider(),
    bootstrap: { data: [{ ...about, ...feature }] as never },
  });
  sdk.on('warn', () => undefined);
  sdk.on('error', () => undefined);
  await once(sdk, 'ready');
  const evaluator = compileEvaluator([feature]);
  const results = new Set<string>();
  for (let nth = 0; nth < 300; nth++) {
    const userId = `${['Åse', 'Jürgen', '李', 'émile', '😀'][nth % 5]}-${nth}`;
    const ours = evaluator.evaluate('f', { fields: new Map([['userId', userId]]), now: new Date(), random: () => 0.5 });
    // This SDK hashes the low byte of each character, so it is given one character for each byte.
    const bytes = { userId: Buffer.from(userId).toString('latin1') };
    const theirs = { enabled: sdk.isEnabled('f', bytes), variant: sdk.getVariant('f', bytes).name };
    expect({ userId, enabled: ours.enabled, variant: ours.variant.name }).toEqual({ userId, ...theirs });
    results.add(`${theirs.enabled} ${theirs.variant}`);
  }
  sdk.destroy();
  expect([...results].sort()).toEqual(['false disabled', 'true blue', 'true green', 'true red']);
});
