import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  AddStrategy,
  type Constraint,
  CreateFeature,
  CreateSegment,
  GetResourceLimits,
  ImportFeatures,
  PatchStrategy,
  PreviewChanges,
  outboxOperations,
  type Refusal,
  UpdateSegment,
  ValidateConstraint,
} from '@bunting/contracts';
import { type StartedFeatures, startFeatures } from '../../test/started-features.ts';

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
