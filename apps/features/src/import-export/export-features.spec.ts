import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { CreateSegment, ExportFeatures, type ExportFeaturesBody, ImportFeatures } from '@bunting/contracts';
import { aFeature, aStrategy } from '../../test/builders.ts';
import { type StartedFeatures, startFeatures } from '../../test/started-features.ts';

const ids = { first: randomUUID(), second: randomUUID() };

let features: StartedFeatures;
let segment: number;
beforeAll(async () => {
  features = await startFeatures();
  ({ id: segment } = await features.call(CreateSegment, { body: { name: 'beta', constraints: [] } }));
});
afterAll(() => features.stop());

const environment = 'development';
const project = 'default';
const takeOut = (body: Partial<ExportFeaturesBody>) =>
  features.call(ExportFeatures, { body: { environment, ...body } });
const link = { id: '9d0f4d2e-0000-4000-8000-000000000009', url: 'https://tickets.example/7', title: 'Ticket' };
const variant = { name: 'a', weight: 1000, weightType: 'variable' as const, stickiness: 'sessionId' };

beforeEach(async () => {
  await features.database.transaction(({ query }) => query('truncate feature cascade'));
  await features.create('parent', { tags: [{ type: 'simple', value: 'red' }], description: 'of checkout' });
  const first = aStrategy({
    id: ids.first,
    name: 'flexibleRollout',
    title: 'Half',
    parameters: { rollout: '50', stickiness: 'userId', groupId: 'checkout' },
    constraints: [{ contextName: 'appName', operator: 'IN', values: ['shop'], inverted: true, caseInsensitive: false }],
    segments: [segment],
    variants: [{ ...variant, payload: { type: 'string', value: 'x' } }],
  });
  const second = aStrategy({ id: ids.second, sortOrder: 3, disabled: true });
  await features.given(
    aFeature({
      project,
      environments: {
        development: { enabled: true, strategies: [first, second], variants: [{ ...variant, overrides: [] }] },
        production: { enabled: true, strategies: [aStrategy({ id: 'elsewhere' })], variants: [] },
      },
      tags: [{ type: 'simple', value: 'blue' }],
      links: [link],
      dependencies: [{ feature: 'parent', enabled: true, variants: ['a'] }],
    }),
    aFeature({ name: 'gone', project, archivedAt: '2026-01-02T00:00:00.000Z' }),
  );
  await features.clearOutbox();
});

it('exports features of an environment with everything they use, and emits an event', async () => {
  const data = await takeOut({ project });
  expect(data.features.map(({ name }) => name)).toEqual(['checkout', 'parent']);
  expect(data.featureStrategies).toMatchObject([
    { id: ids.first, featureName: 'checkout', segments: [segment], sortOrder: 0 },
    { id: ids.second, disabled: true, sortOrder: 3 },
  ]);
  expect(data.featureEnvironments).toMatchObject([{ enabled: true, environment }, { enabled: false }]);
  expect(data.contextFields?.map(({ name }) => name)).toEqual(['appName', 'sessionId', 'userId']);
  expect(data.links).toEqual([{ feature: 'checkout', links: [link] }]);
  expect(data.segments).toEqual([{ id: segment, name: 'beta' }]);
  expect(data.tagTypes.map(({ name }) => name)).toEqual(['simple']);
  expect(await features.emittedEvents()).toMatchObject([
    { type: 'features-exported', data: { environment, project, tag: null, features: ['checkout', 'parent'] } },
  ]);
});

it('imports an export to an identical feature', async () => {
  const before = await takeOut({ project });
  await features.database.transaction(({ query }) => query('truncate feature, tag cascade'));
  const body = { project, environment, data: before };
  expect(await features.call(ImportFeatures, { body })).toMatchObject({ created: 2, skipped: [] });
  expect(await takeOut({ project })).toEqual(before);
  expect(await features.call(ImportFeatures, { body })).toMatchObject({ created: 0, updated: 0, unchanged: 2 });
});

it('exports features by name and by tag', async () => {
  const namesOf = async (body: Partial<ExportFeaturesBody>) => (await takeOut(body)).features.map(({ name }) => name);
  expect(await namesOf({ features: ['parent', 'unknown', 'gone'] })).toEqual(['parent']);
  expect(await namesOf({ features: [] })).toEqual([]);
  expect(await namesOf({ tag: 'blue' })).toEqual(['checkout']);
  expect(await namesOf({ tag: 'blue', project: 'moon' })).toEqual([]);
});

it('refuses an export without selection or of an unknown environment', async () => {
  await expect(takeOut({})).rejects.toMatchObject({ kind: 'ValidationError', message: /`\/body\/features`/ });
  await expect(takeOut({ project, environment: 'moon' })).rejects.toMatchObject({
    kind: 'ValidationError',
    message: /`\/body\/environment`/,
  });
});
